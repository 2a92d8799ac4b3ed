//! Closed sets of words: one declaration gives the type, its wire codes and its reader.

/// A field whose value is one word of a fixed list.
pub trait Vocabulary: Copy + 'static {
    /// Every word, in the order in which messages list them.
    const ALL: &'static [Self];

    /// The subject of the list, for the published schema.
    const ABOUT: &'static str;

    /// Returns the word on the wire.
    fn code(self) -> &'static str;

    /// Returns the meaning of the word, for the published schema.
    fn meaning(self) -> &'static str;

    /// Returns the name of the word in a program, for the published schema.
    fn identifier(self) -> &'static str;

    /// Returns the value whose wire code is exactly `code`.
    fn from_code(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|word| word.code() == code)
    }
}

/// Declares an enum as a [`Vocabulary`] that serialises as its wire code. Its comments are
/// published in the API's description, so clients read them.
///
/// The published schema of an `enum` lists every word that a request may have. An `open enum` is of
/// answers: a later version of the service may send other words, and its schema is a string.
macro_rules! vocabulary {
    ($(#[doc = $about:literal])+ pub enum $($rest:tt)+) => {
        $crate::vocabulary::vocabulary! { @word $(#[doc = $about])+ $($rest)+ }
    };
    ($(#[doc = $about:literal])+ pub open enum $($rest:tt)+) => {
        $crate::vocabulary::vocabulary! { @open_word $(#[doc = $about])+ $($rest)+ }
    };
    (@$schema:ident $(#[doc = $about:literal])+ $Name:ident {
        $($(#[doc = $meaning:literal])+ $Variant:ident = $code:literal,)+
    }) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $Name {
            $($(#[doc = $meaning])+ $Variant,)+
        }

        impl $crate::vocabulary::Vocabulary for $Name {
            const ALL: &'static [Self] = &[$(Self::$Variant,)+];

            const ABOUT: &'static str = concat!($($about),+);

            fn code(self) -> &'static str {
                match self {
                    $(Self::$Variant => $code,)+
                }
            }

            fn meaning(self) -> &'static str {
                match self {
                    $(Self::$Variant => concat!($($meaning),+).trim_ascii_start(),)+
                }
            }

            fn identifier(self) -> &'static str {
                match self {
                    $(Self::$Variant => stringify!($Variant),)+
                }
            }
        }

        impl ::utoipa::PartialSchema for $Name {
            fn schema() -> ::utoipa::openapi::RefOr<::utoipa::openapi::Schema> {
                $crate::schema::$schema::<Self>().into()
            }
        }

        impl ::utoipa::ToSchema for $Name {}

        impl ::std::fmt::Display for $Name {
            fn fmt(&self, out: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                out.write_str($crate::vocabulary::Vocabulary::code(*self))
            }
        }

        impl ::serde::Serialize for $Name {
            fn serialize<S: ::serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
                out.serialize_str($crate::vocabulary::Vocabulary::code(*self))
            }
        }
    };
}

pub(crate) use vocabulary;
