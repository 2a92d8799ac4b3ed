//! Closed sets of words: one declaration gives the type, its wire codes and its reader.

/// A field whose value is one word of a fixed list.
pub trait Vocabulary: Copy + 'static {
    /// Every word, in the order in which messages list them.
    const ALL: &'static [Self];

    /// The word as it stands on the wire.
    fn code(self) -> &'static str;

    /// The value whose wire code is exactly `code`.
    fn from_code(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|word| word.code() == code)
    }
}

/// Declares an enum as a [`Vocabulary`] that serialises as its wire code.
macro_rules! vocabulary {
    ($(#[$meta:meta])* pub enum $Name:ident {
        $($(#[$variant_meta:meta])* $Variant:ident = $code:literal,)+
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $Name {
            $($(#[$variant_meta])* $Variant,)+
        }

        impl $crate::vocabulary::Vocabulary for $Name {
            const ALL: &'static [Self] = &[$(Self::$Variant,)+];

            fn code(self) -> &'static str {
                match self {
                    $(Self::$Variant => $code,)+
                }
            }
        }

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
