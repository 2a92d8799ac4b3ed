//! Tenants and keys.

use domesday_state::*;

use super::{LATER, NOW, Store, id, with_tenant};

fn seed(number: u8) -> KeySeed {
    KeySeed::new([number; 40])
}

fn new_key(tenant: &str) -> NewKey {
    NewKey {
        tenant: id(tenant),
        label: "suite".into(),
        scopes: Scopes::parse(["avm:value", "rates:read:bank_rate"]).unwrap(),
        requires_metric_selection: true,
        expires_at: None,
    }
}

fn access(state: &impl Accounts, key: &CreatedKey, now: UnixMillis) -> Access {
    state.authenticate(key.secret.expose(), now).unwrap()
}

pub(crate) fn a_new_state_is_empty<S: Store>() {
    let store = S::empty();
    let state = store.open();
    assert_eq!(state.tenants().unwrap(), []);
    assert_eq!(state.keys(None).unwrap(), []);
    state
        .create_tenant(&id("acme"), &Plan::default(), NOW)
        .unwrap();
    assert_eq!(state.tenants().unwrap().len(), 1);
}

pub(crate) fn tenants_are_kept<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    let plan = Plan {
        jobs: false,
        ..Plan::without_limits()
    };
    let other = state.create_tenant(&id("0-other"), &plan, LATER).unwrap();
    assert_eq!((&other.plan, other.created_at), (&plan, LATER));
    let tenants = state.tenants().unwrap();
    assert_eq!(tenants[0], other);
    assert_eq!((&tenants[1].id, tenants[1].enabled), (&id("acme"), true));
    assert_eq!(tenants.len(), 2);
}

pub(crate) fn a_key_opens_its_own_access<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    let key = state.create_key(&new_key("acme"), seed(1), NOW).unwrap();
    let principal = access(&state, &key, NOW).into_principal().unwrap();
    let expected = Principal {
        tenant: id("acme"),
        key_id: key.id,
        scopes: new_key("acme").scopes,
        plan: Plan::default(),
        requires_metric_selection: true,
    };
    assert_eq!(*principal, expected);

    let listed = state.keys(Some(&id("acme"))).unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!((listed[0].id, listed[0].created_at), (key.id, NOW));
    assert_eq!(
        (listed[0].label.as_str(), listed[0].revoked_at),
        ("suite", None)
    );
    let secret_part = key.secret.expose().rsplit('_').next().unwrap();
    assert!(!format!("{key:?} {listed:?} {principal:?}").contains(secret_part));
}

pub(crate) fn a_wrong_key_opens_nothing<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    let key = state.create_key(&new_key("acme"), seed(1), NOW).unwrap();
    let right = key.secret.expose();
    let denied = |text: &str| match state.authenticate(text, NOW).unwrap() {
        Access::Denied(denial) => denial,
        other => panic!("{text:?} gave {other:?}"),
    };
    let last = if right.ends_with('0') { '1' } else { '0' };
    let wrong_secret = format!("{}{last}", &right[..right.len() - 1]);
    let wrong_id = right.replacen("dk_0", "dk_f", 1);
    assert_eq!(denied(&wrong_secret), Denial::Unknown);
    assert_eq!(denied(&wrong_id), Denial::Unknown);
    for malformed in [
        "",
        "dk_",
        &right[1..],
        &right[..right.len() - 1],
        &format!("{right} "),
        &format!("{right}0"),
        &right.to_uppercase(),
        &"é".repeat(42),
    ] {
        assert_eq!(denied(malformed), Denial::Malformed, "{malformed:?}");
    }
}

pub(crate) fn a_revoked_key_opens_nothing_ever_again<S: Store>() {
    let (store, state) = with_tenant::<S>();
    let key = state.create_key(&new_key("acme"), seed(1), NOW).unwrap();
    assert!(access(&state, &key, NOW).into_principal().is_some());
    let record = state.revoke_key(key.id, NOW).unwrap();
    assert_eq!(record.revoked_at, Some(NOW));
    assert_eq!(access(&state, &key, NOW), Access::Denied(Denial::Revoked));
    let again = state.revoke_key(key.id, LATER).unwrap();
    assert_eq!(again.revoked_at, Some(NOW));
    // A change of its tenant must not bring it back.
    state
        .set_plan(&id("acme"), &Plan::without_limits())
        .unwrap();
    assert_eq!(access(&state, &key, NOW), Access::Denied(Denial::Revoked));
    drop(state);
    let state = store.open();
    assert_eq!(access(&state, &key, NOW), Access::Denied(Denial::Revoked));
    assert_eq!(state.keys(None).unwrap(), [record]);
}

pub(crate) fn a_key_expires_on_its_millisecond<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    let mut new = new_key("acme");
    new.expires_at = Some(LATER);
    let key = state.create_key(&new, seed(1), NOW).unwrap();
    assert!(access(&state, &key, NOW).into_principal().is_some());
    assert_eq!(access(&state, &key, LATER), Access::Denied(Denial::Expired));
    assert_eq!(state.keys(None).unwrap()[0].expires_at, Some(LATER));
}

pub(crate) fn keys_of_a_tenant_are_independent<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    state
        .create_tenant(&id("other"), &Plan::default(), NOW)
        .unwrap();
    let old = state.create_key(&new_key("acme"), seed(2), NOW).unwrap();
    let new = state.create_key(&new_key("acme"), seed(1), NOW).unwrap();
    let other = state.create_key(&new_key("other"), seed(3), NOW).unwrap();
    state.revoke_key(old.id, NOW).unwrap();
    assert!(access(&state, &new, NOW).into_principal().is_some());
    let principal = access(&state, &other, NOW).into_principal().unwrap();
    assert_eq!(principal.tenant, id("other"));

    let ids = |tenant: Option<&TenantId>| -> Vec<KeyId> {
        let keys = state.keys(tenant).unwrap();
        keys.into_iter().map(|key| key.id).collect()
    };
    assert_eq!(ids(Some(&id("acme"))), [new.id, old.id]);
    assert_eq!(ids(None), [new.id, old.id, other.id]);
    assert_eq!(ids(Some(&id("nobody"))), []);
}

pub(crate) fn a_tenant_is_disabled_and_enabled<S: Store>() {
    let (store, state) = with_tenant::<S>();
    let key = state.create_key(&new_key("acme"), seed(1), NOW).unwrap();
    let disabled = Access::Disabled { tenant: id("acme") };
    assert!(!state.set_enabled(&id("acme"), false).unwrap().enabled);
    assert_eq!(access(&state, &key, NOW), disabled);
    // A key that is made meanwhile does not open the door either.
    let later = state.create_key(&new_key("acme"), seed(2), NOW).unwrap();
    assert_eq!(access(&state, &later, NOW), disabled);
    drop(state);
    let state = store.open();
    assert_eq!(access(&state, &key, NOW), disabled);
    assert!(state.set_enabled(&id("acme"), true).unwrap().enabled);
    assert!(access(&state, &key, NOW).into_principal().is_some());
}

pub(crate) fn a_changed_plan_reaches_every_key<S: Store>() {
    let (store, state) = with_tenant::<S>();
    let keys = [1, 2].map(|number| {
        state
            .create_key(&new_key("acme"), seed(number), NOW)
            .unwrap()
    });
    let before = access(&state, &keys[0], NOW).into_principal().unwrap();
    let plan = Plan {
        monthly_units: 7,
        ..Plan::default()
    };
    assert_eq!(state.set_plan(&id("acme"), &plan).unwrap().plan, plan);
    for key in &keys {
        assert_eq!(
            access(&state, key, NOW).into_principal().unwrap().plan,
            plan
        );
    }
    // A request that was authenticated before keeps the rights that it had then.
    assert_eq!(before.plan, Plan::default());
    drop(state);
    let principal = access(&store.open(), &keys[1], NOW)
        .into_principal()
        .unwrap();
    assert_eq!(principal.plan, plan);
}

pub(crate) fn failed_creation_changes_nothing<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    let key = state.create_key(&new_key("acme"), seed(1), NOW).unwrap();
    let (tenants, keys) = (state.tenants().unwrap(), state.keys(None).unwrap());

    let error = state.create_tenant(&id("acme"), &Plan::without_limits(), LATER);
    assert!(matches!(error, Err(StateError::TenantExists { tenant }) if tenant == id("acme")));
    let error = state.create_key(&new_key("nobody"), seed(2), NOW);
    assert!(matches!(error, Err(StateError::UnknownTenant { tenant }) if tenant == id("nobody")));
    let error = state.create_key(&new_key("acme"), seed(1), LATER);
    assert!(matches!(error, Err(StateError::KeyIdTaken { key: id }) if id == key.id));
    let mut nothing = new_key("acme");
    nothing.scopes = Scopes::default();
    let error = state.create_key(&nothing, seed(2), NOW);
    assert!(matches!(error, Err(StateError::Scopes(ScopeError::Empty))));
    let absent = KeyId::from_bytes([9; 8]);
    let error = state.revoke_key(absent, NOW);
    assert!(matches!(error, Err(StateError::UnknownKey { key }) if key == absent));
    for error in [
        state.set_plan(&id("nobody"), &Plan::default()),
        state.set_enabled(&id("nobody"), false),
    ] {
        assert!(
            matches!(error, Err(StateError::UnknownTenant { tenant }) if tenant == id("nobody"))
        );
    }

    assert_eq!(state.tenants().unwrap(), tenants);
    assert_eq!(state.keys(None).unwrap(), keys);
    assert!(access(&state, &key, NOW).into_principal().is_some());
}

pub(crate) fn everything_survives_a_restart<S: Store>() {
    let (store, state) = with_tenant::<S>();
    let mut new = new_key("acme");
    new.expires_at = Some(LATER);
    let key = state.create_key(&new, seed(1), NOW).unwrap();
    let before = access(&state, &key, NOW);
    let (tenants, keys) = (state.tenants().unwrap(), state.keys(None).unwrap());
    drop(state);

    let state = store.open();
    assert_eq!(state.tenants().unwrap(), tenants);
    assert_eq!(state.keys(None).unwrap(), keys);
    assert_eq!(access(&state, &key, NOW), before);
    assert!(before.into_principal().is_some());
}

/// Four threads make, use and revoke keys of one tenant. Each sees its own changes at once, and in
/// the end all of them are there.
pub(crate) fn threads_see_one_state<S: Store>() {
    let (store, state) = with_tenant::<S>();
    std::thread::scope(|scope| {
        for thread in 0..4_u8 {
            let state = &state;
            scope.spawn(move || {
                for round in 0..8 {
                    let seed = seed(thread * 8 + round);
                    let key = state.create_key(&new_key("acme"), seed, NOW).unwrap();
                    assert!(access(state, &key, NOW).into_principal().is_some());
                    if round % 2 == 0 {
                        state.revoke_key(key.id, NOW).unwrap();
                        assert!(access(state, &key, NOW).into_principal().is_none());
                    }
                }
            });
        }
    });
    drop(state);
    let keys = store.open().keys(None).unwrap();
    let revoked = keys.iter().filter(|key| key.revoked_at.is_some()).count();
    assert_eq!((keys.len(), revoked), (32, 16));
}
