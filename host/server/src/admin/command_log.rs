//! The log's lines about commands.

use super::protocol::Command;
use domesday_state::KeyId;

/// Logs a command and its subject. No command holds a secret.
pub(super) fn log_command(command: &Command) {
    let (mut tenant, mut key, mut plan) = (None, None, None);
    let name = match command {
        Command::Status {} => "status",
        Command::Releases {} => "releases",
        Command::Promote { .. } => "promote",
        Command::History {} => "history",
        Command::ConsoleLogin { tenant: whose, .. } => {
            tenant = Some(whose);
            "console login"
        }
        Command::StartShadow { .. } => "begin shadow",
        Command::StopShadow {} => "end shadow",
        Command::RotateCursors {} => "rotate cursors",
        Command::PauseJobs { paused: true } => "pause jobs",
        Command::PauseJobs { paused: false } => "resume jobs",
        Command::CreateKey(new) => {
            (tenant, plan) = (Some(&new.tenant), new.plan.as_ref());
            "create key"
        }
        Command::CopyState { .. } => "copy state",
        Command::Keys {} => "keys",
        Command::RevokeKey { key: id } => {
            // Text that is no id may be a whole key.
            key = id.parse::<KeyId>().ok();
            "revoke key"
        }
        Command::Tenants {} => "tenants",
        Command::SetPlan {
            tenant: whose,
            plan: new,
        } => {
            (tenant, plan) = (Some(whose), Some(new));
            "set plan"
        }
        Command::ReceiptKeys { tenant: whose } => {
            tenant = whose.as_ref();
            "keys of receipts"
        }
        Command::EraseReceiptKey { tenant: whose } => {
            tenant = Some(whose);
            "erase key of receipts"
        }
        Command::UsageEntries { tenant: whose, .. } => {
            tenant = whose.as_ref();
            "usage entries"
        }
        Command::Enable {
            tenant: whose,
            enabled,
        } => {
            tenant = Some(whose);
            if *enabled { "enable" } else { "disable" }
        }
    };
    tracing::info!(
        command = name,
        tenant,
        key_id = key.map(tracing::field::display),
        plan = plan.map(tracing::field::debug),
        "an operator's command"
    );
}
