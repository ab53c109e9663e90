-- expand

-- The pairwise subject that a request expects, which tells no account; null: anybody may answer, or expected_user_id.
alter table oauth2_authorization_grants add column expected_subject text;
