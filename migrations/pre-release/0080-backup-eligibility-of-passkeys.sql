-- expand
-- whether its key may be on several devices, as the authenticator said when it was added; null: added before this was
-- kept, and not used since
alter table user_passkeys add column backup_eligible boolean;
