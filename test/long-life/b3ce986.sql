CREATE FUNCTION public.note_profile_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  if new.updated_at is not distinct from old.updated_at
    and (new.username, new.display_name, new.locale) is distinct from (old.username, old.display_name, old.locale)
  then
    new.updated_at := clock_timestamp();
  end if;
  return new;
end
$$;
CREATE TABLE public.audit_events (id uuid NOT NULL, kind text NOT NULL, user_id uuid, client_id uuid, session_id uuid, ip inet, user_agent text, detail jsonb, created_at timestamp with time zone NOT NULL);
COMMENT ON TABLE public.audit_events IS 'security events, written in the transaction of the change they record';
CREATE TABLE public.compat_access_tokens (id uuid NOT NULL, session_id uuid NOT NULL, token_hash bytea NOT NULL, created_at timestamp with time zone NOT NULL, expires_at timestamp with time zone, first_used_at timestamp with time zone, revoked_at timestamp with time zone) WITH (fillfactor='85');
CREATE TABLE public.compat_refresh_tokens (id uuid NOT NULL, session_id uuid NOT NULL, token_hash bytea NOT NULL, access_token_id uuid, predecessor_id uuid, successor_id uuid, rotation_salt bytea, replay_counter integer DEFAULT 0 NOT NULL, created_at timestamp with time zone NOT NULL, first_used_at timestamp with time zone, consumed_at timestamp with time zone, revoked_at timestamp with time zone) WITH (fillfactor='85');
CREATE TABLE public.compat_sessions (id uuid NOT NULL, user_id uuid NOT NULL, device_id text, user_session_id uuid, is_homeserver_admin boolean DEFAULT false NOT NULL, human_name text, user_agent text, refresh_family bytea, created_at timestamp with time zone NOT NULL, last_active_at timestamp with time zone, last_active_ip inet, finished_at timestamp with time zone, finish_reason text);
COMMENT ON TABLE public.compat_sessions IS 'sessions of chat clients that signed in through the compatibility layer';
CREATE TABLE public.compat_sso_logins (id uuid NOT NULL, redirect_uri text NOT NULL, upstream_provider_id uuid, requester_ip inet NOT NULL, created_at timestamp with time zone NOT NULL, expires_at timestamp with time zone NOT NULL, user_session_id uuid, fulfilled_at timestamp with time zone, login_token_hash bytea, exchanged_at timestamp with time zone, compat_session_id uuid);
COMMENT ON TABLE public.compat_sso_logins IS 'single sign-ons of chat clients, until their login token is exchanged';
CREATE TABLE public.data_exports (id uuid NOT NULL, user_id uuid NOT NULL, language text, created_at timestamp with time zone NOT NULL, archive bytea, size_bytes integer, ready_at timestamp with time zone, failed_at timestamp with time zone, expires_at timestamp with time zone NOT NULL);
ALTER TABLE ONLY public.data_exports ALTER COLUMN archive SET STORAGE EXTERNAL;
CREATE TABLE public.homeserver_leases (user_id uuid NOT NULL, owner uuid NOT NULL, expires_at timestamp with time zone NOT NULL);
CREATE UNLOGGED TABLE public.login_failures (key text NOT NULL, failed_at timestamp with time zone[] NOT NULL, last_failed_at timestamp with time zone NOT NULL);
CREATE TABLE public.oauth2_access_tokens (id uuid NOT NULL, session_id uuid NOT NULL, token_hash bytea NOT NULL, scope text[] NOT NULL, resources text[] DEFAULT '{}'::text[] NOT NULL, created_at timestamp with time zone NOT NULL, expires_at timestamp with time zone NOT NULL, first_used_at timestamp with time zone, revoked_at timestamp with time zone, dpop_jkt text) WITH (fillfactor='85');
CREATE TABLE public.oauth2_authorization_grants (id uuid NOT NULL, client_id uuid NOT NULL, redirect_uri text NOT NULL, redirect_uri_sent boolean NOT NULL, scope text[] NOT NULL, resources text[] DEFAULT '{}'::text[] NOT NULL, response_mode text NOT NULL, state text, nonce text, code_challenge text, prompt text[] DEFAULT '{}'::text[] NOT NULL, max_age integer, login_hint text, locale text, acr_values text[] DEFAULT '{}'::text[] NOT NULL, claims jsonb, expected_user_id uuid, dpop_jkt text, registration_offered boolean DEFAULT false NOT NULL, requester_ip inet, created_at timestamp with time zone NOT NULL, expires_at timestamp with time zone NOT NULL, decision text, user_session_id uuid, auth_time timestamp with time zone, acr text, amr text[] DEFAULT '{}'::text[] NOT NULL, code_hash bytea, fulfilled_at timestamp with time zone, oauth2_session_id uuid, exchanged_at timestamp with time zone, cancelled_at timestamp with time zone, cancel_reason text, acr_essential boolean DEFAULT false NOT NULL, requester_user_id uuid, expected_subject text, parameters jsonb);
CREATE TABLE public.oauth2_clients (id uuid NOT NULL, is_static boolean NOT NULL, version integer DEFAULT 1 NOT NULL, client_secret_sealed bytea, registration_token_hash bytea, metadata_digest text, metadata jsonb NOT NULL, created_at timestamp with time zone NOT NULL, last_used_at timestamp with time zone, disabled_at timestamp with time zone);
CREATE TABLE public.oauth2_consents (user_id uuid NOT NULL, client_id uuid NOT NULL, scope text[] NOT NULL, created_at timestamp with time zone NOT NULL, updated_at timestamp with time zone NOT NULL, resources text[] DEFAULT '{}'::text[] NOT NULL, id uuid DEFAULT gen_random_uuid() NOT NULL);
CREATE TABLE public.oauth2_device_code_grants (id uuid NOT NULL, client_id uuid NOT NULL, scope text[] NOT NULL, resources text[] DEFAULT '{}'::text[] NOT NULL, device_code_hash bytea NOT NULL, user_code_hmac bytea NOT NULL, user_code_sealed bytea NOT NULL, ip inet, user_agent text, requester_ip inet NOT NULL, interval_seconds integer NOT NULL, polled_at timestamp with time zone, created_at timestamp with time zone NOT NULL, expires_at timestamp with time zone NOT NULL, user_session_id uuid, locale text, auth_time timestamp with time zone, acr text, amr text[] DEFAULT '{}'::text[] NOT NULL, fulfilled_at timestamp with time zone, rejected_at timestamp with time zone, oauth2_session_id uuid, exchanged_at timestamp with time zone) WITH (fillfactor='85');
CREATE TABLE public.oauth2_pushed_requests (request_uri_hash bytea NOT NULL, client_id uuid NOT NULL, parameters jsonb NOT NULL, signed boolean DEFAULT false NOT NULL, created_at timestamp with time zone NOT NULL, expires_at timestamp with time zone NOT NULL, authorization_grant_id uuid, consumed_at timestamp with time zone, requester_ip inet);
CREATE TABLE public.oauth2_refresh_tokens (id uuid NOT NULL, session_id uuid NOT NULL, token_hash bytea NOT NULL, access_token_id uuid, predecessor_id uuid, successor_id uuid, rotation_salt bytea, replay_counter integer DEFAULT 0 NOT NULL, created_at timestamp with time zone NOT NULL, first_used_at timestamp with time zone, consumed_at timestamp with time zone, revoked_at timestamp with time zone) WITH (fillfactor='85');
CREATE TABLE public.oauth2_sessions (id uuid NOT NULL, user_id uuid, user_session_id uuid, client_id uuid NOT NULL, parent_session_id uuid, scope text[] NOT NULL, resources text[] DEFAULT '{}'::text[] NOT NULL, device_id text, locale text, user_agent text, human_name text, auth_time timestamp with time zone, acr text, amr text[] DEFAULT '{}'::text[] NOT NULL, dpop_jkt text, refresh_family bytea, created_at timestamp with time zone NOT NULL, last_active_at timestamp with time zone, last_active_ip inet, finished_at timestamp with time zone, finish_reason text, claims jsonb, act jsonb);
CREATE TABLE public.personal_access_tokens (id uuid NOT NULL, session_id uuid NOT NULL, token_hash bytea NOT NULL, created_at timestamp with time zone NOT NULL, expires_at timestamp with time zone, revoked_at timestamp with time zone);
CREATE TABLE public.personal_sessions (id uuid NOT NULL, owner_user_id uuid, owner_client_id uuid, actor_user_id uuid NOT NULL, human_name text NOT NULL, scope text[] NOT NULL, device_id text, user_agent text, created_at timestamp with time zone NOT NULL, expires_at timestamp with time zone, last_active_at timestamp with time zone, last_active_ip inet, revoked_at timestamp with time zone, CONSTRAINT personal_sessions_one_owner CHECK ((num_nonnulls(owner_user_id, owner_client_id) = 1)));
COMMENT ON TABLE public.personal_sessions IS 'standing permissions of programs to act as an account';
CREATE TABLE public.policy_data (id uuid NOT NULL, data jsonb NOT NULL, created_at timestamp with time zone NOT NULL);
CREATE TABLE public.queue_jobs (id uuid NOT NULL, queue text NOT NULL, payload jsonb NOT NULL, dedup_key text, queued_by text, attempt integer DEFAULT 0 NOT NULL, created_at timestamp with time zone NOT NULL, due_at timestamp with time zone NOT NULL, worker uuid, failed_at timestamp with time zone, failed_reason text);
COMMENT ON TABLE public.queue_jobs IS 'background work that is waiting, running, or failed for good';
CREATE TABLE public.queue_workers (id uuid NOT NULL, name text NOT NULL, version text NOT NULL, works boolean NOT NULL, config_digest bytea NOT NULL, started_at timestamp with time zone NOT NULL, last_seen_at timestamp with time zone NOT NULL, root_keys bytea[]);
CREATE UNLOGGED TABLE public.rate_limits (key text NOT NULL, tat timestamp with time zone NOT NULL);
CREATE TABLE public.replayed_values (value_hash bytea NOT NULL, expires_at timestamp with time zone NOT NULL);
COMMENT ON TABLE public.replayed_values IS 'ids of JWTs that were accepted and must not be accepted again';
CREATE TABLE public.schema_migrations (version integer NOT NULL, name text NOT NULL, checksum text NOT NULL, kind text NOT NULL, min_reader integer NOT NULL, applied_at timestamp with time zone NOT NULL, duration_ms integer NOT NULL);
CREATE TABLE public.secret_keys (purpose text NOT NULL, key_sealed bytea NOT NULL, created_at timestamp with time zone NOT NULL);
COMMENT ON TABLE public.secret_keys IS 'keys drawn once that outlive a change of the encryption key, which seals them';
CREATE TABLE public.server_state (key text NOT NULL, value bytea NOT NULL);
COMMENT ON TABLE public.server_state IS 'facts fixed at first start: check value of the encryption key, protocol name';
CREATE TABLE public.upstream_authorizations (id uuid NOT NULL, provider_id uuid NOT NULL, state_hash bytea NOT NULL, secrets_sealed bytea NOT NULL, created_at timestamp with time zone NOT NULL, received_at timestamp with time zone, completed_at timestamp with time zone, link_id uuid, answer_sealed bytea, sid text, consumed_at timestamp with time zone, user_session_id uuid, sub text);
COMMENT ON TABLE public.upstream_authorizations IS 'attempts to sign in through such a service';
COMMENT ON COLUMN public.upstream_authorizations.sub IS 'sub of the ID token; null when there was none';
CREATE TABLE public.upstream_links (id uuid NOT NULL, provider_id uuid NOT NULL, subject text NOT NULL, user_id uuid, human_account_name text, created_at timestamp with time zone NOT NULL, last_used_at timestamp with time zone, groups text[]);
COMMENT ON TABLE public.upstream_links IS 'which account a subject of such a service belongs to';
CREATE TABLE public.upstream_providers (id uuid NOT NULL, issuer text, human_name text, client_id text NOT NULL, ui_order integer NOT NULL, created_at timestamp with time zone NOT NULL, disabled_at timestamp with time zone, metadata jsonb, metadata_fetched_at timestamp with time zone);
COMMENT ON TABLE public.upstream_providers IS 'other services that people may sign in with';
CREATE TABLE public.user_email_authentications (id uuid NOT NULL, email text NOT NULL, email_key text NOT NULL, locale text NOT NULL, created_at timestamp with time zone NOT NULL, mails integer NOT NULL, code_of_mail integer, code_expires_at timestamp with time zone, tries integer DEFAULT 0 NOT NULL, completed_at timestamp with time zone, user_session_id uuid);
COMMENT ON TABLE public.user_email_authentications IS 'attempts to prove an e-mail address by a code';
CREATE TABLE public.user_emails (id uuid NOT NULL, user_id uuid NOT NULL, email text NOT NULL, email_key text NOT NULL, created_at timestamp with time zone NOT NULL);
COMMENT ON TABLE public.user_emails IS 'confirmed addresses only';
CREATE TABLE public.user_passkeys (id uuid NOT NULL, user_id uuid NOT NULL, credential_id bytea NOT NULL, public_key bytea NOT NULL, sign_count bigint NOT NULL, transports text[] NOT NULL, backed_up boolean NOT NULL, aaguid uuid, name text NOT NULL, created_at timestamp with time zone NOT NULL, last_used_at timestamp with time zone);
COMMENT ON TABLE public.user_passkeys IS 'keys by which people sign in without a password';
CREATE TABLE public.user_passwords (user_id uuid NOT NULL, id uuid NOT NULL, hash text NOT NULL, scheme_version integer NOT NULL, created_at timestamp with time zone NOT NULL);
CREATE TABLE public.user_pending_logins (id uuid NOT NULL, user_id uuid NOT NULL, user_session_id uuid, first_factor text NOT NULL, password_id uuid, upstream_authorization_id uuid, upstream_amr text[] DEFAULT '{}'::text[] NOT NULL, post_auth_action jsonb, ip inet, user_agent text, failed_attempts integer DEFAULT 0 NOT NULL, setup_sealed bytea, enrolled_at timestamp with time zone, created_at timestamp with time zone NOT NULL, expires_at timestamp with time zone NOT NULL, completed_at timestamp with time zone, link_on_completion jsonb);
CREATE TABLE public.user_recovery_codes (id uuid NOT NULL, user_id uuid NOT NULL, code_hmac bytea NOT NULL, created_at timestamp with time zone NOT NULL, used_at timestamp with time zone);
COMMENT ON TABLE public.user_recovery_codes IS 'one-time codes for people who lost their other second factor';
CREATE TABLE public.user_recovery_sessions (id uuid NOT NULL, email text NOT NULL, email_key text NOT NULL, locale text NOT NULL, ip inet, user_agent text, created_at timestamp with time zone NOT NULL, consumed_at timestamp with time zone);
COMMENT ON TABLE public.user_recovery_sessions IS 'requests for a new password, for addresses that may be unknown';
CREATE TABLE public.user_recovery_tickets (ticket_hash bytea NOT NULL, session_id uuid NOT NULL, user_id uuid NOT NULL, user_email_id uuid NOT NULL, password_id uuid, created_at timestamp with time zone NOT NULL);
CREATE TABLE public.user_registration_tokens (id uuid NOT NULL, token_hmac bytea NOT NULL, token_sealed bytea NOT NULL, usage_limit integer, times_used integer DEFAULT 0 NOT NULL, created_at timestamp with time zone NOT NULL, last_used_at timestamp with time zone, expires_at timestamp with time zone, revoked_at timestamp with time zone, CONSTRAINT user_registration_tokens_check CHECK ((times_used <= usage_limit)), CONSTRAINT user_registration_tokens_usage_limit_check CHECK ((usage_limit > 0)));
CREATE TABLE public.user_registrations (id uuid NOT NULL, username text NOT NULL, display_name text, password_hash text, password_scheme_version integer, post_auth_action jsonb, terms_uri text, locale text, ip inet, user_agent text, created_at timestamp with time zone NOT NULL, completed_at timestamp with time zone, registration_token_id uuid, upstream_authorization_id uuid, has_fixed_username boolean DEFAULT false NOT NULL, email_authentication_id uuid, has_fixed_email boolean DEFAULT false NOT NULL);
CREATE TABLE public.user_session_authentications (id uuid NOT NULL, user_session_id uuid NOT NULL, kind text NOT NULL, created_at timestamp with time zone NOT NULL);
CREATE TABLE public.user_sessions (id uuid NOT NULL, user_id uuid NOT NULL, key_hash bytea NOT NULL, previous_key_hash bytea, key_rotated_at timestamp with time zone, authenticated_at timestamp with time zone NOT NULL, acr text, amr text[] DEFAULT '{}'::text[] NOT NULL, failed_reauths integer DEFAULT 0 NOT NULL, user_agent text, created_at timestamp with time zone NOT NULL, last_active_at timestamp with time zone, last_active_ip inet, finished_at timestamp with time zone, finish_reason text);
CREATE TABLE public.user_terms (user_id uuid NOT NULL, terms_uri text NOT NULL, accepted_at timestamp with time zone NOT NULL);
CREATE TABLE public.user_totp_enrolments (id uuid NOT NULL, user_id uuid NOT NULL, user_session_id uuid NOT NULL, secret_sealed bytea NOT NULL, wrong_codes integer DEFAULT 0 NOT NULL, created_at timestamp with time zone NOT NULL);
COMMENT ON TABLE public.user_totp_enrolments IS 'authenticator apps that are being set up';
CREATE TABLE public.user_totp_secrets (id uuid NOT NULL, user_id uuid NOT NULL, secret_sealed bytea NOT NULL, last_used_step integer NOT NULL, created_at timestamp with time zone NOT NULL, last_used_at timestamp with time zone);
COMMENT ON TABLE public.user_totp_secrets IS 'secrets that accounts share with an authenticator app';
CREATE TABLE public.user_trusted_browsers (nonce_hash bytea NOT NULL, user_id uuid NOT NULL, password_id uuid, created_at timestamp with time zone NOT NULL, expires_at timestamp with time zone NOT NULL);
CREATE TABLE public.user_unsupported_threepids (user_id uuid NOT NULL, medium text NOT NULL, address text NOT NULL, created_at timestamp with time zone NOT NULL);
COMMENT ON TABLE public.user_unsupported_threepids IS 'third-party ids that were imported and that nothing uses';
CREATE TABLE public.users (id uuid NOT NULL, username text NOT NULL, username_key text NOT NULL, display_name text, locale text, can_request_admin boolean DEFAULT false NOT NULL, created_at timestamp with time zone NOT NULL, locked_at timestamp with time zone, deactivated_at timestamp with time zone, updated_at timestamp with time zone, is_guest boolean DEFAULT false NOT NULL, groups text[], claims jsonb, homeserver_deactivated_at timestamp with time zone, homeserver_erased_at timestamp with time zone);
CREATE TABLE public.webauthn_challenges (id uuid NOT NULL, challenge_hash bytea NOT NULL, purpose text NOT NULL, login_id uuid, user_session_id uuid, expires_at timestamp with time zone NOT NULL, CONSTRAINT webauthn_challenges_one_holder CHECK ((num_nonnulls(login_id, user_session_id) = 1)));
COMMENT ON TABLE public.webauthn_challenges IS 'what authenticators of passkeys are asked to sign, once each';
INSERT INTO public.audit_events VALUES ('daab04e7-fbcb-42a4-26f3-e92e876bcbb3', 'audit_events.kind.1', 'e693f03f-fd83-20cf-c25b-4ae9f6f3d6cd', '6ba175ea-7811-d330-4ef9-f76e37a527db', NULL, '10.0.0.1', 'audit_events.user_agent.1', NULL, '2026-01-01 00:01:00+00'),
  ('d4475b80-b7d3-7ee8-bae1-1859dac15687', 'audit_events.kind.2', '3754e0d6-5c62-afcb-5fc3-ce87c7617dee', NULL, 'b26a85eb-09ff-cdd3-276a-1cb282de7208', '10.0.0.2', NULL, '{"g": 2}', '2026-01-01 00:02:00+00'),
  ('31bff10e-e1eb-f2b8-6640-96ac29a3d8a9', 'audit_events.kind.3', NULL, 'f1cb5e41-6b77-0769-52aa-f08be6e72d54', '70d0a48f-2b79-fba3-8797-b9366e7a051b', NULL, 'audit_events.user_agent.3', '{"g": 3}', '2026-01-01 00:03:00+00');
INSERT INTO public.compat_access_tokens VALUES ('ec667ac7-7ba3-fdd6-d56d-c35e08e49f8d', '3bcf1e23-50c1-175b-f23c-a371647c8731', '\xcd309b5e21e40e7df6f21ddfc696fe6e673734809387a37f50794cefe8262788', '2026-01-01 00:01:00+00', NULL, '2026-01-01 00:01:00+00', '2026-01-01 00:01:00+00'),
  ('c3e2771d-4828-666e-2bab-5a5bf69668c5', '237aa584-010f-453e-d419-f5e172b11b14', '\x116fd68e2f445476984a9c09e2eef4633ae1b38fcb09ccb5d835e7291199c115', '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00', NULL),
  ('e02e205b-57e1-a4d3-42c2-908dc2bf7093', 'd6da4af7-a5c9-48e2-4c3d-b7fdb0c92631', '\x82984b4d3acbbe5336c64fd748d9cf7a75c08dfff5042a11baf94dfd9af2b1c4', '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00', NULL, '2026-01-01 00:03:00+00');
INSERT INTO public.compat_refresh_tokens VALUES ('275e4bc6-2e4a-8800-0cfa-8c3d28e2d2e6', '3bcf1e23-50c1-175b-f23c-a371647c8731', '\x0441bf0045aa791e32d8429ae3836ccd5b9f7d8e687f3f6358af75ce0a31de31', '0f2e504d-5e30-4904-eaed-72052335b6a7', NULL, '46b34513-1482-4408-c0e4-07df423aa5db', '\x1afabcb41d94edfe16a9cfea1f4888208f88faf1fbf2669b92d1408077e76309', 2, '2026-01-01 00:01:00+00', '2026-01-01 00:01:00+00', NULL, '2026-01-01 00:01:00+00'),
  ('687c20ac-280f-ac11-061a-d7e53379cc9f', '237aa584-010f-453e-d419-f5e172b11b14', '\x9ba787c53672fc98997bc91d90a75eb26ae4cf4bbbcfb56862b87605a55fb30b', NULL, '72db218a-808a-2a0a-30fe-7d38a827bf2f', '03b96cbd-4ae2-d2d3-c597-c42259952c50', NULL, 3, '2026-01-01 00:02:00+00', NULL, '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00'),
  ('9ae2be81-f16a-5b36-db72-68be8df84e5b', 'd6da4af7-a5c9-48e2-4c3d-b7fdb0c92631', '\xf73703d0034a8e32748e935da4bc6d0d11f0ca755f4b638cc9a50431f85bebe0', 'fb2720b2-38ad-be99-73c3-2e955686b767', '50e9e440-20b4-6ced-0b09-4f814b743e5c', NULL, '\x9443c383816f1d5898c0017c1004efacd014e1375cf7eeb8e4ff27b8fbd89367', 4, '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00', NULL);
INSERT INTO public.compat_sessions VALUES ('3bcf1e23-50c1-175b-f23c-a371647c8731', '88984643-2d0f-2eb1-c32c-c3c7ff13bade', 'compat_sessions.device_id.1', '80518375-68fe-57df-b3ea-92e7075a5a0a', false, 'compat_sessions.human_name.1', 'compat_sessions.user_agent.1', NULL, '2026-01-01 00:01:00+00', '2026-01-01 00:01:00+00', NULL, '2026-01-01 00:01:00+00', 'compat_sessions.finish_reason.1'),
  ('237aa584-010f-453e-d419-f5e172b11b14', '250129c0-fac8-9e57-536b-c76b0aa5d126', 'compat_sessions.device_id.2', NULL, true, 'compat_sessions.human_name.2', NULL, '\x432ccb3ab40708a6ebf1126f99421bd3e44bb50d61db47fab16037b645c184b4', '2026-01-01 00:02:00+00', NULL, '10.0.0.2', '2026-01-01 00:02:00+00', NULL),
  ('d6da4af7-a5c9-48e2-4c3d-b7fdb0c92631', 'f8bfc159-c519-97d0-48a1-85e1d2712722', NULL, '078ce8b1-3acc-c631-1055-fa6fedd9672b', false, NULL, 'compat_sessions.user_agent.3', '\x26b50e0db346c6631b9db6a6e6e6cbf1db21de2843cc5b472e9d9961083aa3d3', '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00', '10.0.0.3', NULL, 'compat_sessions.finish_reason.3');
INSERT INTO public.compat_sso_logins VALUES ('7a885a6c-fcfb-a179-8699-0665b529fd90', 'compat_sso_logins.redirect_uri.1', '624e948e-a732-0c68-89a4-55e8f2f78ce7', '10.0.0.1', '2026-01-01 00:01:00+00', '2026-01-01 00:01:00+00', '80518375-68fe-57df-b3ea-92e7075a5a0a', NULL, '\x4c84cdd84734936895c3ce22f1c634d14950f2f65ed8ab94e064d91f345de9db', '2026-01-01 00:01:00+00', NULL),
  ('6c632b1c-9c4c-ead8-929f-5557a9318c76', 'compat_sso_logins.redirect_uri.2', 'a2c83066-e348-8f22-b4dd-e169d72a0573', '10.0.0.2', '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00', NULL, '2026-01-01 00:02:00+00', '\xd1536cad6c9197b226a125149ba63d4d6c5a1d60cf11c23ab42e6e0f1ae988dc', NULL, '237aa584-010f-453e-d419-f5e172b11b14'),
  ('695f7d33-0658-3cf0-4f33-d1288795a8a9', 'compat_sso_logins.redirect_uri.3', NULL, '10.0.0.3', '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00', '078ce8b1-3acc-c631-1055-fa6fedd9672b', '2026-01-01 00:03:00+00', NULL, '2026-01-01 00:03:00+00', 'd6da4af7-a5c9-48e2-4c3d-b7fdb0c92631');
INSERT INTO public.data_exports VALUES ('9a45ba0e-357d-0009-7606-da6e683de75e', '88984643-2d0f-2eb1-c32c-c3c7ff13bade', 'data_exports.language.1', '2026-01-01 00:01:00+00', NULL, 2, '2026-01-01 00:01:00+00', NULL, '2026-01-01 00:01:00+00'),
  ('40767ac1-ac89-b572-8431-ae8513b04bf8', '250129c0-fac8-9e57-536b-c76b0aa5d126', 'data_exports.language.2', '2026-01-01 00:02:00+00', '\x1cae285020b8891eb2f5521c5b01d95980d377eecf359237ff9499005a30143c', 3, NULL, '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00'),
  ('6c56ca28-ab86-48e2-7e2e-75ac00281194', 'f8bfc159-c519-97d0-48a1-85e1d2712722', NULL, '2026-01-01 00:03:00+00', '\xd2df86839a06883bf612d9d75638735110153f762e82b4f988bd359deec5966e', NULL, '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00');
INSERT INTO public.homeserver_leases VALUES ('88984643-2d0f-2eb1-c32c-c3c7ff13bade', '77b56edc-2cd4-b0a3-b2f3-f42abb02c511', '2026-01-01 00:01:00+00'),
  ('250129c0-fac8-9e57-536b-c76b0aa5d126', '9c9f82e8-a73a-1ba0-7aa8-6321fada4628', '2026-01-01 00:02:00+00'),
  ('f8bfc159-c519-97d0-48a1-85e1d2712722', 'd23e5716-727b-b536-b2c3-30dff210bd96', '2026-01-01 00:03:00+00');
INSERT INTO public.login_failures VALUES ('login_failures.key.1', '{"2026-01-01 00:01:00+00"}', '2026-01-01 00:01:00+00'),
  ('login_failures.key.2', '{"2026-01-01 00:02:00+00"}', '2026-01-01 00:02:00+00'),
  ('login_failures.key.3', '{"2026-01-01 00:03:00+00"}', '2026-01-01 00:03:00+00');
INSERT INTO public.oauth2_access_tokens VALUES ('643989ad-54a1-f2f4-6a3b-b4ff5d3bb1d4', '545dbeed-6c36-bca3-2d4e-3ecdc155d39b', '\xfffb7e2a25c292283d398dea962afee28b5765defea1b21b9e34e7fccafebb41', '{oauth2_access_tokens.scope.1}', '{oauth2_access_tokens.resources.1}', '2026-01-01 00:01:00+00', '2026-01-01 00:01:00+00', NULL, '2026-01-01 00:01:00+00', 'oauth2_access_tokens.dpop_jkt.1'),
  ('d4aa53a5-8a5e-577d-b4fa-00a23d77ca81', '90aecf96-bc41-c3b7-475b-61346a9558f3', '\x082cbcf4a28d5045ebbf5a6e26562092226c8a66d98b7050b54260904dc51943', '{oauth2_access_tokens.scope.2}', '{oauth2_access_tokens.resources.2}', '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00', NULL),
  ('2879c74d-c9f8-2ff3-fe6c-bd6a5a7f955a', '8b12c402-d453-15e0-c8eb-cc40c8d112df', '\xa60a3944e2b56f239fa8bb77085add4ecf3f7e3403b5fb4c92615c10fbf4aed6', '{oauth2_access_tokens.scope.3}', '{oauth2_access_tokens.resources.3}', '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00', NULL, 'oauth2_access_tokens.dpop_jkt.3');
INSERT INTO public.oauth2_authorization_grants VALUES ('dde06c1f-f007-4498-9f89-1badbe665637', 'db36de9c-edf5-5532-ae99-33ea86d9693e', 'oauth2_authorization_grants.redirect_uri.1', false, '{oauth2_authorization_grants.scope.1}', '{oauth2_authorization_grants.resources.1}', 'oauth2_authorization_grants.response_mode.1', NULL, 'oauth2_authorization_grants.nonce.1', 'oauth2_authorization_grants.code_challenge.1', '{oauth2_authorization_grants.prompt.1}', 2, 'oauth2_authorization_grants.login_hint.1', NULL, '{oauth2_authorization_grants.acr_values.1}', '{"g": 1}', NULL, 'oauth2_authorization_grants.dpop_jkt.1', false, NULL, '2026-01-01 00:01:00+00', '2026-01-01 00:01:00+00', NULL, '80518375-68fe-57df-b3ea-92e7075a5a0a', '2026-01-01 00:01:00+00', NULL, '{oauth2_authorization_grants.amr.1}', '\xd261928294d0404d8c33fe280ab704ceeaea34031ea4e07f4f29744c05554e11', NULL, '545dbeed-6c36-bca3-2d4e-3ecdc155d39b', '2026-01-01 00:01:00+00', NULL, 'oauth2_authorization_grants.cancel_reason.1', false, NULL, 'oauth2_authorization_grants.expected_subject.1', '{"g": 1}'),
  ('1103f662-acb4-03c2-20d2-601dbbb79ec9', '8c2d22cd-2d5b-6cea-0c62-b1eb801d7f9d', 'oauth2_authorization_grants.redirect_uri.2', true, '{oauth2_authorization_grants.scope.2}', '{oauth2_authorization_grants.resources.2}', 'oauth2_authorization_grants.response_mode.2', 'oauth2_authorization_grants.state.2', 'oauth2_authorization_grants.nonce.2', NULL, '{oauth2_authorization_grants.prompt.2}', 3, NULL, 'oauth2_authorization_grants.locale.2', '{oauth2_authorization_grants.acr_values.2}', NULL, '17c9d336-495f-c875-fc13-5a6199620873', 'oauth2_authorization_grants.dpop_jkt.2', true, '10.0.0.2', '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00', 'oauth2_authorization_grants.decision.2', '2ca5eb8d-374d-b2e7-211f-384669270f1a', NULL, 'oauth2_authorization_grants.acr.2', '{oauth2_authorization_grants.amr.2}', NULL, '2026-01-01 00:02:00+00', '90aecf96-bc41-c3b7-475b-61346a9558f3', NULL, '2026-01-01 00:02:00+00', 'oauth2_authorization_grants.cancel_reason.2', true, '69cd5987-0443-c1b6-31fe-bada63bd7c60', 'oauth2_authorization_grants.expected_subject.2', NULL),
  ('792003ad-d328-d63c-2e5d-adfb5899903b', '1a2313f9-a8d3-0734-f02e-60b9f6aefef0', 'oauth2_authorization_grants.redirect_uri.3', false, '{oauth2_authorization_grants.scope.3}', '{oauth2_authorization_grants.resources.3}', 'oauth2_authorization_grants.response_mode.3', 'oauth2_authorization_grants.state.3', NULL, 'oauth2_authorization_grants.code_challenge.3', '{oauth2_authorization_grants.prompt.3}', NULL, 'oauth2_authorization_grants.login_hint.3', 'oauth2_authorization_grants.locale.3', '{oauth2_authorization_grants.acr_values.3}', '{"g": 3}', '85c25652-285f-30f6-1804-c3954591fc9a', NULL, false, '10.0.0.3', '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00', 'oauth2_authorization_grants.decision.3', NULL, '2026-01-01 00:03:00+00', 'oauth2_authorization_grants.acr.3', '{oauth2_authorization_grants.amr.3}', '\xe241cf9b0765cb63afe9c0b5d411d3f8ae75ec0b3e341e0d711b6741abfda016', '2026-01-01 00:03:00+00', NULL, '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00', NULL, false, '52c053ab-75ee-64cc-b548-5ef260af45c8', NULL, '{"g": 3}');
INSERT INTO public.oauth2_clients VALUES ('db36de9c-edf5-5532-ae99-33ea86d9693e', false, 2, '\x5e0bb7f075d44b207c0209528c57968b16b41626f8514dd5f5178d8c4ddb194c', NULL, 'oauth2_clients.metadata_digest.1', '{"g": 1}', '2026-01-01 00:01:00+00', '2026-01-01 00:01:00+00', '2026-01-01 00:01:00+00'),
  ('8c2d22cd-2d5b-6cea-0c62-b1eb801d7f9d', true, 3, NULL, '\xc8e45839d0aa0aa83a27b532332e323b7170b47834f495990e93d9e355a8d8ad', 'oauth2_clients.metadata_digest.2', '{"g": 2}', '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00', NULL),
  ('1a2313f9-a8d3-0734-f02e-60b9f6aefef0', false, 4, '\x180aa8851e461c77b92d17130399704aa6df1ce1a792e742c5f8f180cebb4d78', '\xc3f393e3fb9fbfb2c52858ed48fa157c223eeb27163cdcac04681640b95ad38f', NULL, '{"g": 3}', '2026-01-01 00:03:00+00', NULL, '2026-01-01 00:03:00+00');
INSERT INTO public.oauth2_consents VALUES ('88984643-2d0f-2eb1-c32c-c3c7ff13bade', 'db36de9c-edf5-5532-ae99-33ea86d9693e', '{oauth2_consents.scope.1}', '2026-01-01 00:01:00+00', '2026-01-01 00:01:00+00', '{oauth2_consents.resources.1}', '5d19ff38-be60-b911-0a16-93f6c9c6d86f'),
  ('250129c0-fac8-9e57-536b-c76b0aa5d126', '8c2d22cd-2d5b-6cea-0c62-b1eb801d7f9d', '{oauth2_consents.scope.2}', '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00', '{oauth2_consents.resources.2}', 'd5770f30-a3ac-ea9f-0438-5caf7587a717'),
  ('f8bfc159-c519-97d0-48a1-85e1d2712722', '1a2313f9-a8d3-0734-f02e-60b9f6aefef0', '{oauth2_consents.scope.3}', '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00', '{oauth2_consents.resources.3}', 'e17e0f82-9f1d-7b5a-26da-b658c3c56afb');
INSERT INTO public.oauth2_device_code_grants VALUES ('cbc2c18b-b407-981e-3473-2ace7e38ac1f', 'db36de9c-edf5-5532-ae99-33ea86d9693e', '{oauth2_device_code_grants.scope.1}', '{oauth2_device_code_grants.resources.1}', '\x0c2de9f7aa5fb0fd4910661df306153392bec62382fb1d2eed56aa4511eec0a2', '\x78d8747b33977c0a7b365e5e927708295608506473427b8475d6a84ae2240f78', '\x5cae301532115a0b6361ed387896202c887e8e5c1b998c4fc4fad466b3329ac4', NULL, 'oauth2_device_code_grants.user_agent.1', '10.0.0.1', 2, '2026-01-01 00:01:00+00', '2026-01-01 00:01:00+00', '2026-01-01 00:01:00+00', '80518375-68fe-57df-b3ea-92e7075a5a0a', 'oauth2_device_code_grants.locale.1', NULL, 'oauth2_device_code_grants.acr.1', '{oauth2_device_code_grants.amr.1}', NULL, '2026-01-01 00:01:00+00', '545dbeed-6c36-bca3-2d4e-3ecdc155d39b', NULL),
  ('5952fe9f-3163-2431-8af9-29e7f5030020', '8c2d22cd-2d5b-6cea-0c62-b1eb801d7f9d', '{oauth2_device_code_grants.scope.2}', '{oauth2_device_code_grants.resources.2}', '\x4b0ec5ee98e8244e867de5c4d37cc3714e32920f56a673c095a05b15ebeed260', '\x3f31aeb1aa3b7f9e8632e8fda5be30639bb8f9d35d201291e2ed9eaca24c3b87', '\x0e46ffc2779d8d0c1b3f51c99cce3a89f2119bced7940bb8f0e7e5ed0ad7ebd2', '10.0.0.2', 'oauth2_device_code_grants.user_agent.2', '10.0.0.2', 3, '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00', '2ca5eb8d-374d-b2e7-211f-384669270f1a', NULL, '2026-01-01 00:02:00+00', 'oauth2_device_code_grants.acr.2', '{oauth2_device_code_grants.amr.2}', '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00', NULL, '2026-01-01 00:02:00+00'),
  ('1817ddaa-9dd4-f221-2d88-b3a0dc1f2cf0', '1a2313f9-a8d3-0734-f02e-60b9f6aefef0', '{oauth2_device_code_grants.scope.3}', '{oauth2_device_code_grants.resources.3}', '\x3968a2bbd44d1cfced71031b44a6310dbe4d5aaeb6ba19cdbd538929a7c8c0ab', '\x365e4878028f421eaedfaae9717513ac098219e0944634b8296b812a05b4d05b', '\xef5e61771013a3165c2bf75f24eef5d0b1fe831b7f2603bd8f27e9ee3b5ecb04', '10.0.0.3', NULL, '10.0.0.3', 4, NULL, '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00', NULL, 'oauth2_device_code_grants.locale.3', '2026-01-01 00:03:00+00', NULL, '{oauth2_device_code_grants.amr.3}', '2026-01-01 00:03:00+00', NULL, '8b12c402-d453-15e0-c8eb-cc40c8d112df', '2026-01-01 00:03:00+00');
INSERT INTO public.oauth2_pushed_requests VALUES ('\x9245e91489d68a63d591a5fcec054c5ea2a255b680d863dd02ee47d36f1637e0', 'db36de9c-edf5-5532-ae99-33ea86d9693e', '{"g": 1}', false, '2026-01-01 00:01:00+00', '2026-01-01 00:01:00+00', NULL, '2026-01-01 00:01:00+00', '10.0.0.1'),
  ('\x26604890bf45974d59d63cdec1ac3b258cc8bee78ff5f5048cb408afd91104e4', '8c2d22cd-2d5b-6cea-0c62-b1eb801d7f9d', '{"g": 2}', true, '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00', '1103f662-acb4-03c2-20d2-601dbbb79ec9', '2026-01-01 00:02:00+00', NULL),
  ('\x1567d06d4868137114f315eded9fc1f9739c89ceba53f49a428b264afbf36d43', '1a2313f9-a8d3-0734-f02e-60b9f6aefef0', '{"g": 3}', false, '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00', '792003ad-d328-d63c-2e5d-adfb5899903b', NULL, '10.0.0.3');
INSERT INTO public.oauth2_refresh_tokens VALUES ('1268ca9d-c73b-5756-c5b1-75ada670b9bf', '545dbeed-6c36-bca3-2d4e-3ecdc155d39b', '\x62d607bed99bd4952cffab333d30a80159824669cd1871ed058ea5f113ffc455', 'd37f0c80-2cd7-497d-37fd-c1bc67f2be99', NULL, '24573100-7509-a7f1-0f8b-172c634f9812', '\x51e4507c98b63f0f2028b23ad64cb21d045deee12d77a11945017e87517c2f63', 2, '2026-01-01 00:01:00+00', '2026-01-01 00:01:00+00', NULL, '2026-01-01 00:01:00+00'),
  ('2af96c0f-140e-c2af-f22e-c5b998d2cb5d', '90aecf96-bc41-c3b7-475b-61346a9558f3', '\xd6410f0846239cfdba4a76387077c8b4af46c55827e521c8c6c5037a11cc6ce5', NULL, 'f8b3d07e-5eeb-8313-e816-b8bf98fa6497', 'f4eb98be-d297-e599-d8fe-8725ac44b4f7', NULL, 3, '2026-01-01 00:02:00+00', NULL, '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00'),
  ('26bfe4b4-b9da-abf8-0433-4377f628870e', '8b12c402-d453-15e0-c8eb-cc40c8d112df', '\xc7058af7c997ff1fcc365305b0c66c715f3ec8c6eb84f9d61f33616d9f565f17', '08cafbe6-81f8-8b45-5463-af35d6a418cb', 'b9a3715d-ebb4-1158-10b0-ca5f8bc7ac82', NULL, '\xd9bee18a9229135f3b3b8eee245ec7e6c2105a37cefcdb46ea8163f1293e007c', 4, '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00', NULL);
INSERT INTO public.oauth2_sessions VALUES ('545dbeed-6c36-bca3-2d4e-3ecdc155d39b', NULL, '80518375-68fe-57df-b3ea-92e7075a5a0a', 'db36de9c-edf5-5532-ae99-33ea86d9693e', NULL, '{oauth2_sessions.scope.1}', '{oauth2_sessions.resources.1}', NULL, 'oauth2_sessions.locale.1', 'oauth2_sessions.user_agent.1', NULL, '2026-01-01 00:01:00+00', 'oauth2_sessions.acr.1', '{oauth2_sessions.amr.1}', 'oauth2_sessions.dpop_jkt.1', '\x161ebf55c049e9e5176250eafa8e92670fd5fd959e65cd86e4b8e967d378a9ab', '2026-01-01 00:01:00+00', '2026-01-01 00:01:00+00', '10.0.0.1', NULL, 'oauth2_sessions.finish_reason.1', '{"g": 1}', NULL),
  ('90aecf96-bc41-c3b7-475b-61346a9558f3', '250129c0-fac8-9e57-536b-c76b0aa5d126', '2ca5eb8d-374d-b2e7-211f-384669270f1a', '8c2d22cd-2d5b-6cea-0c62-b1eb801d7f9d', '90aecf96-bc41-c3b7-475b-61346a9558f3', '{oauth2_sessions.scope.2}', '{oauth2_sessions.resources.2}', 'oauth2_sessions.device_id.2', 'oauth2_sessions.locale.2', NULL, 'oauth2_sessions.human_name.2', '2026-01-01 00:02:00+00', NULL, '{oauth2_sessions.amr.2}', 'oauth2_sessions.dpop_jkt.2', NULL, '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00', NULL, '2026-01-01 00:02:00+00', 'oauth2_sessions.finish_reason.2', NULL, '{"g": 2}'),
  ('8b12c402-d453-15e0-c8eb-cc40c8d112df', 'f8bfc159-c519-97d0-48a1-85e1d2712722', NULL, '1a2313f9-a8d3-0734-f02e-60b9f6aefef0', '8b12c402-d453-15e0-c8eb-cc40c8d112df', '{oauth2_sessions.scope.3}', '{oauth2_sessions.resources.3}', 'oauth2_sessions.device_id.3', NULL, 'oauth2_sessions.user_agent.3', 'oauth2_sessions.human_name.3', NULL, 'oauth2_sessions.acr.3', '{oauth2_sessions.amr.3}', NULL, '\x9386eb08a4b36a32598a6e4a2ef78b4bdf579311b98ade246ced40cf106d1537', '2026-01-01 00:03:00+00', NULL, '10.0.0.3', '2026-01-01 00:03:00+00', NULL, '{"g": 3}', '{"g": 3}');
INSERT INTO public.personal_access_tokens VALUES ('a697e18a-bea6-ee18-96cc-dfedbe68bb60', '8b4071d3-ecb5-3c0d-ee96-971432124815', '\x663092a25d228610165961afb0a3317141d3e0332f5eab177d6d28e1bead340e', '2026-01-01 00:01:00+00', NULL, '2026-01-01 00:01:00+00'),
  ('80a790b3-7b55-8157-72ca-0a79807decb8', '97225230-6163-074a-75e7-f5fd048ef7d4', '\xf865b1cb31991831f77ed80a056d444746021a7581c9bb550c7f49ac4b79ae9f', '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00'),
  ('a6f4dc6f-9029-4ab3-f7d7-fb6de73427da', '2b3c7f6a-13e8-56eb-8fb9-dd47ebdc80ac', '\xe52830fd514d33b6ed0cde834afe986971a14d59852a68f40434b8cb261e36c4', '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00', NULL);
INSERT INTO public.personal_sessions VALUES ('8b4071d3-ecb5-3c0d-ee96-971432124815', '88984643-2d0f-2eb1-c32c-c3c7ff13bade', NULL, '88984643-2d0f-2eb1-c32c-c3c7ff13bade', 'personal_sessions.human_name.1', '{personal_sessions.scope.1}', 'personal_sessions.device_id.1', NULL, '2026-01-01 00:01:00+00', '2026-01-01 00:01:00+00', NULL, '10.0.0.1', '2026-01-01 00:01:00+00'),
  ('97225230-6163-074a-75e7-f5fd048ef7d4', '250129c0-fac8-9e57-536b-c76b0aa5d126', NULL, '250129c0-fac8-9e57-536b-c76b0aa5d126', 'personal_sessions.human_name.2', '{personal_sessions.scope.2}', NULL, 'personal_sessions.user_agent.2', '2026-01-01 00:02:00+00', NULL, '2026-01-01 00:02:00+00', '10.0.0.2', NULL),
  ('2b3c7f6a-13e8-56eb-8fb9-dd47ebdc80ac', NULL, '1a2313f9-a8d3-0734-f02e-60b9f6aefef0', 'f8bfc159-c519-97d0-48a1-85e1d2712722', 'personal_sessions.human_name.3', '{personal_sessions.scope.3}', 'personal_sessions.device_id.3', 'personal_sessions.user_agent.3', '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00', NULL, '2026-01-01 00:03:00+00');
INSERT INTO public.policy_data VALUES ('34d4ef12-c7aa-eda5-2b16-9e1520fc7289', '{"g": 1}', '2026-01-01 00:01:00+00'),
  ('d63abd41-40f2-ae57-230d-23f1f5ebfde5', '{"g": 2}', '2026-01-01 00:02:00+00'),
  ('e8df98a3-1bd1-8d8c-2e73-96a84b7d199b', '{"g": 3}', '2026-01-01 00:03:00+00');
INSERT INTO public.queue_jobs VALUES ('2275bd03-9c87-2e27-c0cb-2eb2db171950', 'queue_jobs.queue.1', '{"g": 1}', 'queue_jobs.dedup_key.1', NULL, 2, '2026-01-01 00:01:00+00', '2026-01-01 00:01:00+00', 'dc3450f1-2d12-e74c-be38-3089cd08e0f9', '2026-01-01 00:01:00+00', NULL),
  ('1648c50c-2929-584b-c9f8-118e2944916f', 'queue_jobs.queue.2', '{"g": 2}', NULL, 'queue_jobs.queued_by.2', 3, '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00', 'edfc3c47-e87e-bffd-5601-86a81bd52743', NULL, 'queue_jobs.failed_reason.2'),
  ('82ed23fd-d916-37c3-86fd-6f8d96f020a8', 'queue_jobs.queue.3', '{"g": 3}', 'queue_jobs.dedup_key.3', 'queue_jobs.queued_by.3', 4, '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00', NULL, '2026-01-01 00:03:00+00', 'queue_jobs.failed_reason.3');
INSERT INTO public.queue_workers VALUES ('fd7819e9-e888-7382-7f1e-c1da94ce4037', 'queue_workers.name.1', 'queue_workers.version.1', false, '\xb91a5a1ae4f43ceaa3e8198f999b4e6a2dd6935b7b35f91006aa309d2da6682a', '2026-01-01 00:01:00+00', '2026-01-01 00:01:00+00', NULL),
  ('f4cf44d6-03fe-fb17-63a8-512c9d46f447', 'queue_workers.name.2', 'queue_workers.version.2', true, '\xd9874eeed1930a81a42316e0dcaa5ad9526669cb70456a6dca956645bce093fd', '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00', '{"\\x2ab6da32c1d7c3110692d9e7398739481fd8e2749ddd4622cafc40b6fbcc2dce"}'),
  ('c3316fc5-65d8-3e1d-56ac-628966dcff7d', 'queue_workers.name.3', 'queue_workers.version.3', false, '\x67bd74a52d655efa8893264d1fb51e08b338cb40d3feb7a378dc77e04fb0c54b', '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00', '{"\\xd12ad97c0fb3d963539ca6e54c933105d960c07909fffafca60c2abbc6052b78"}');
INSERT INTO public.rate_limits VALUES ('rate_limits.key.1', '2026-01-01 00:01:00+00'),
  ('rate_limits.key.2', '2026-01-01 00:02:00+00'),
  ('rate_limits.key.3', '2026-01-01 00:03:00+00');
INSERT INTO public.replayed_values VALUES ('\xe796d0bc18ff083a5c78b03a878f4793bc14673d34deeb4b6e9b92bfd72edef0', '2026-01-01 00:01:00+00'),
  ('\x38990d28d138cf88b31155d20749c774b51fcdc70484c9654b63ed0cc1ec2479', '2026-01-01 00:02:00+00'),
  ('\xd9251b5b513a868e76b55ae3a5f87d17346026838c0dea63a76a68ffdd4a22a7', '2026-01-01 00:03:00+00');
INSERT INTO public.schema_migrations VALUES (1, 'foundation', 'bd3509579a278ecf332162f0430a833f72bb1ba163b1cf4427076dfa4e2c4d9a', 'expand', 0, '2026-11-28 17:21:09.632+00', 656),
  (2, 'registrations', 'c8a712de029e8fccb2e61656ca4da636b8a7916f15ed6155b5b929da60b0c641', 'expand', 0, '2026-11-28 17:21:09.677+00', 22),
  (3, 'clean-up', '9f8c38099229ca7b1edff72367b526d113c7d79530ebfe11feebb2b7208e5bc5', 'expand', 0, '2026-11-28 17:21:09.706+00', 20),
  (4, 'requested-claims', '9bc5a6166508600ffd9e3c85c6da6a36dd3dbfadee87ef2a73ba83f47d511a99', 'expand', 0, '2026-11-28 17:21:09.716+00', 4),
  (5, 'requester-of-grants', '4d065c0a0fa4e1208c50777097eff534f927e816267144ab7a8136bfb386a931', 'expand', 0, '2026-11-28 17:21:09.72+00', 1),
  (6, 'unused-grants', '84d733c8185be02088dfb68b4f568e53fa5c7b0af3d63217d4c9e17bc3a189df', 'expand', 0, '2026-11-28 17:21:09.746+00', 23),
  (7, 'users-updated-at', 'b7abe8137baea856af7fd890f0263bc448420d884a797e1b950dc286f372f858', 'expand', 0, '2026-11-28 17:21:09.753+00', 2),
  (8, 'device-code-grants', 'e12d363232ee26891cbe69a19e542adf32fd339c54adc1d6229a1feb3a1eda7d', 'expand', 0, '2026-11-28 17:21:09.777+00', 10),
  (9, 'replayed-values', 'c3d485d9f54975c64d37b6d39b5bb42e293009bdf99d65b294e65c6b042d6a3b', 'expand', 0, '2026-11-28 17:21:09.801+00', 3),
  (10, 'secret-keys', 'b99a1fdee083d94b599f515d56d5e2406bace538d53843d0fcc0a55577fdc12a', 'expand', 0, '2026-11-28 17:21:09.858+00', 24),
  (11, 'resource-consents', '61401180311af331d80a7b0a4e7a0f0bdddd6eaf0aea4ae8e14e4ceb0bfaecd0', 'expand', 0, '2026-11-28 17:21:09.871+00', 3),
  (12, 'pushed-requests', '1ca5b754bdde3ddd77937f0764b93f1d3d35ffc9527cf1a5ef95a1839d086138', 'expand', 0, '2026-11-28 17:21:09.885+00', 7),
  (13, 'queue-jobs', '2e9aa10659e073361c560500a5e8d8ce9967c9f25b0ad035f73888418967c2d8', 'expand', 0, '2026-11-28 17:21:09.947+00', 47),
  (14, 'drop-clean-up-tables', '0e6524015de8b3dce6e5e51c5cb2956a789bb719f92a3ef2eb2c595c82a6ee0c', 'contract', 14, '2026-11-28 17:21:09.97+00', 4),
  (15, 'expected-subjects', '2ae6447dd11c6255ee6814ec09b289f10d78a7663ad3c9869b31e273a5c0d663', 'expand', 0, '2026-11-28 17:21:09.981+00', 8),
  (16, 'bound-tokens', '17549020e5800634c4392003fd75a12f5ba31d9dfa7e3dd6ca03d21fa11e6396', 'expand', 0, '2026-11-28 17:21:10.017+00', 18),
  (17, 'live-sessions-of-users', '361b01ab8547078005f9a178cb57472aa9d42df3f335399ac876cc20e87a9f30', 'expand', 0, '2026-11-28 17:21:10.069+00', 38),
  (18, 'requester-of-pushed-requests', '930d53c5b938000863b139e776ce86bb86f37587ea220539303d9bcea4fb46b8', 'expand', 0, '2026-11-28 17:21:10.088+00', 15),
  (19, 'drop-pushed-thumbprint', '249ac60963d54fb078836a52c13d5e88023f6af139903cff999266272201f319', 'contract', 0, '2026-11-28 17:21:10.123+00', 31),
  (20, 'recoveries', '8b1c124bc9d1a591a2fec6fd5e7dac612c72ad370b1fb0f54f8e2c2980c78fac', 'expand', 0, '2026-11-28 17:21:10.197+00', 71),
  (21, 'registration-tokens', '017b3559a8517ffeaf8c116af18a061b34d0d748207b7cfc797f6435cb0a3440', 'expand', 0, '2026-11-28 17:21:10.29+00', 88),
  (22, 'upstream-providers', 'fa0eed237a3830d83ae582e7014e15b08fd5ae06f7fcb75acfcde84693fa043b', 'expand', 0, '2026-11-28 17:21:10.34+00', 29),
  (23, 'upstream-logout', 'fa2384e4a6a080bde793ead14ea23f03b694535eaa9e5a7881c218efa8cd99a1', 'expand', 0, '2026-11-28 17:21:10.375+00', 18),
  (24, 'upstream-logout-indexes', 'c1cfcebe1cd392bbe07ff3ae84cea9a1a259840df9318866c2a33e1b89a2e3bd', 'expand', 0, '2026-11-28 17:21:10.401+00', 12),
  (25, 'registrations-through-providers', '871381fb154ff84874ee098391efe3967d248ed014f750a8e4d6df980faa6e30', 'expand', 0, '2026-11-28 17:21:10.421+00', 20),
  (26, 'email-authentications', '0ed74b671103cd26f93dc8cc8200843ef30a583906aabb77e2956ce78848eb0f', 'expand', 0, '2026-11-28 17:21:10.445+00', 16),
  (27, 'homeserver-leases', 'd8ddb21e830191bced8728e30800a4323faafec27c58c6d65aa8b006c419e09b', 'expand', 0, '2026-11-28 17:21:10.476+00', 18),
  (28, 'request-parameters', '8763cc1d492d8325cb389880a6d28587f665842eef4c10f36972393e96b3a046', 'expand', 0, '2026-11-28 17:21:10.499+00', 17),
  (29, 'compat-sessions', 'dfa4564c0cd7bd0e8bffd6ae1d542adb001ffe892c4da2a9ba0bf50f00729cb7', 'expand', 0, '2026-11-28 17:21:10.531+00', 21),
  (30, 'fixed-email-of-registrations', '6163bac3c22ae02c0872e07c8677b8356adb0e33c708277da175b4b76145d1ab', 'expand', 0, '2026-11-28 17:21:10.546+00', 3),
  (31, 'compat-sso-logins', '83fdee78e5bef1d7e7e864f06e4033386cd176ed436794ee3535ab797ab29260', 'expand', 0, '2026-11-28 17:21:10.566+00', 8),
  (32, 'email-authentications-by-address', 'ccd6b2351f2cbc363d390b8ec843b43b911aa28de5e63b0825b98dabe6d3c7c2', 'expand', 0, '2026-11-28 17:21:10.6+00', 13),
  (33, 'sessions-of-users', '296b49bf00e42ef981d42f44a5a6789e73fa1ecbda31936600ce219e02986e1b', 'expand', 0, '2026-11-28 17:21:10.623+00', 16),
  (34, 'use-of-upstream-links', '4d7c16a275b5f0b5d41054f3acce92b8f0e29a2fb17af58a1a2b59c3dd29b845', 'expand', 0, '2026-11-28 17:21:10.642+00', 2),
  (35, 'ids-of-consents', '1c13c3bd783c492d27dcb9fdcbff13218a7648faafdfb85ca507ed8eda3d4fa2', 'expand', 0, '2026-11-28 17:21:10.655+00', 10),
  (36, 'security-events-of-users', '9ae74b16530972ef978d54b9004706547188bb958bf25b8f8785875f45d9c4ef', 'expand', 0, '2026-11-28 17:21:10.791+00', 53),
  (37, 'email-authentications-of-sessions', 'bc7223761342028fe795ddeedab3c867588263af55438ada6bca4368da7d5fbf', 'expand', 0, '2026-11-28 17:21:10.868+00', 53),
  (38, 'email-authentications-by-session', '6e4df46485b0caa392aee306050c0399ed2df6de502356ca3b85b157c904310f', 'expand', 0, '2026-11-28 17:21:10.877+00', 4),
  (39, 'policy-data', 'c1cb3965926254def4aed0e05f991d6e13e3d347f1a670858c52ed15c44e5630', 'expand', 0, '2026-11-28 17:21:10.888+00', 9),
  (40, 'data-exports', '7d543ccf2a2675a62f1bf4bdcd8c4abcee2e3e8ef90653935ebb0eaad08aaf12', 'expand', 0, '2026-11-28 17:21:10.892+00', 3),
  (41, 'live-sessions-of-user', 'cf5043b8d598b099d22df51038031716913b8f2c283cf1c23573de8ba1228f14', 'expand', 0, '2026-11-28 17:21:10.909+00', 16),
  (42, 'unsupported-threepids', 'fffe9c81491e1d615987a10e1fbe467a361aa6fb019c9fbb285ad3b18700d0d4', 'expand', 0, '2026-11-28 17:21:10.917+00', 6),
  (43, 'queue-workers', '6778c0b1439071af10b13f90ca5f930a19830946753710e460448881f395ac4a', 'expand', 0, '2026-11-28 17:21:10.932+00', 9),
  (44, 'live-sessions-by-client', '9d4d1222ccdaa788038a61e94f97e67315ce8a32d7e77c8ec2b6fc9c484a474b', 'expand', 0, '2026-11-28 17:21:10.945+00', 10),
  (45, 'personal-sessions', '340128256bb557431ed20b338994e6808945c43e3e35bf5c454cab20277d5b2c', 'expand', 0, '2026-11-28 17:21:10.967+00', 19),
  (46, 'root-keys-of-processes', 'ae262798bb8b2fdfb3818b941c99687f027c581c6a79ce128781de853e006488', 'expand', 0, '2026-11-28 17:21:10.991+00', 6),
  (47, 'token-exchange', '2b70485a47115b02e6466f6ccf9fe97befa0d73d6e14f2a67802df0e26212363', 'expand', 0, '2026-11-28 17:21:11+00', 4),
  (48, 'one-time-codes', 'ce28d5322795037eba87e74391939b14d0f95d5313517678a9da080931e1406c', 'expand', 0, '2026-11-28 17:21:11.076+00', 68),
  (49, 'pending-logins', '6f841f6a31ac873c4a2d4a6db46b0646c6e970d67d899f5c2588268a59cf3575', 'expand', 0, '2026-11-28 17:21:11.104+00', 20),
  (50, 'passkeys', 'f39dc80d6af195514d5cee6ad2ff18a40f71244091f5e159416a3b68c2f11675', 'expand', 0, '2026-11-28 17:21:11.13+00', 14),
  (51, 'groups-and-claims', '3ad1a8aaf9393df7a2fbcaa6c2d51cf5f12d67d2776e50efb68e7698b18c84be', 'expand', 0, '2026-11-28 17:21:11.155+00', 13),
  (54, 'members-of-groups', '44550f45db127d5a6756480942beb9759be0a9a5d80bb3f5951d6d6e434af674', 'expand', 0, '2026-11-28 17:21:11.171+00', 9),
  (55, 'deactivations-at-homeserver', 'cd84b585de46275be5293d031b9286c26287e1e9f3ae2ff8a562cf49ce2397ba', 'expand', 0, '2026-11-28 17:21:11.193+00', 13),
  (58, 'link-on-completion', '13357137ca4d1fa0f8877290d61dfad5af1ba63c75aec01762a9c6f81c5d5b54', 'expand', 0, '2026-11-28 17:21:11.2+00', 5),
  (60, 'live-sessions-of-applications', 'c71efdda8b7cdb321cbfc07775dffe90af00c839f1ed1d3f6e6dfffaedce1ee5', 'expand', 0, '2026-11-28 17:21:11.21+00', 5);
INSERT INTO public.secret_keys VALUES ('secret_keys.purpose.1', '\xc19b94fb97e30420ca2c0c47efc5bff179431dcc0576337978639182a9745ece', '2026-01-01 00:01:00+00'),
  ('secret_keys.purpose.2', '\x97da692f39b4f29bf64abfeb4066b60c35ef0f85e1c19630da5a730833f0fb1a', '2026-01-01 00:02:00+00'),
  ('secret_keys.purpose.3', '\x9e3244554633b412297f6431bae3d5fe4b5c43d50ea612c8c4b5d7e91216a903', '2026-01-01 00:03:00+00');
INSERT INTO public.server_state VALUES ('server_state.key.1', '\xd5618efd046bf135101082316f81132b113772d55f504fc97ac8479741084afb'),
  ('server_state.key.2', '\xc99e01e60ec82865b3ee648d61ec24ddb31420799fdaca888dc8a52093dd9262'),
  ('server_state.key.3', '\xb7818481dbf8e4d95ace68cd1ad86314d807acde96021150afc87dce19e0e4e3');
INSERT INTO public.upstream_authorizations VALUES ('947d40a7-929d-d4b4-f41a-232d974f9e57', 'ec81e5ba-6518-8525-0d73-4c66bdc143c7', '\x26944ee0fb7012f23db587398ab759caacd0d1a8acc09076be20f6c9cd56744b', '\x70636a790b5044bae291f963bc876600707cc8b93bbec34274b0cdfbbb8f437b', '2026-01-01 00:01:00+00', '2026-01-01 00:01:00+00', '2026-01-01 00:01:00+00', NULL, '\x705ec7869e11a693a9291d2595a93f3bd9726a3f8ff827dfa1deb765c615493a', 'upstream_authorizations.sid.1', NULL, '80518375-68fe-57df-b3ea-92e7075a5a0a', 'upstream_authorizations.sub.1'),
  ('256ca4b8-b64a-d3d9-541c-9013c7b8aa75', '865e4914-bb39-bf7c-3869-144bfe459e00', '\xe13818872edf59090f3e6cd51342d3d5ddfa7a7df59c9854915d280836be376d', '\x4966af5e7d5fabb60fb4e19481c2920c7ed0c82759c9dd4bbd154d095269cefe', '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00', NULL, 'f8a80d1a-5f50-7166-a38d-722de5a5a1fd', '\x4a271a7b309f90c598c013509c44f8a7f2f1a909aa0944a505c945a69f4492c0', NULL, '2026-01-01 00:02:00+00', '2ca5eb8d-374d-b2e7-211f-384669270f1a', NULL),
  ('312451d4-97b7-6ada-fdd0-8a13052faf39', 'a636f142-3e7b-54ac-9498-4e9e1b44b74d', '\x3b15bef77ddd9f081aecedfd5d82a0994e33b8e8116b45219a5bfb27bef51edf', '\x7df625a67e524f193a5274804e2de2acaff1bee924cea10e557d24eca1a494da', '2026-01-01 00:03:00+00', NULL, '2026-01-01 00:03:00+00', 'c3633055-75d9-819c-0828-fe03407f117e', NULL, 'upstream_authorizations.sid.3', '2026-01-01 00:03:00+00', NULL, 'upstream_authorizations.sub.3');
INSERT INTO public.upstream_links VALUES ('41ca6abf-15f8-55d8-407e-9f14fe38b3a2', 'ec81e5ba-6518-8525-0d73-4c66bdc143c7', 'upstream_links.subject.1', '88984643-2d0f-2eb1-c32c-c3c7ff13bade', NULL, '2026-01-01 00:01:00+00', '2026-01-01 00:01:00+00', NULL),
  ('f8a80d1a-5f50-7166-a38d-722de5a5a1fd', '865e4914-bb39-bf7c-3869-144bfe459e00', 'upstream_links.subject.2', NULL, 'upstream_links.human_account_name.2', '2026-01-01 00:02:00+00', NULL, '{upstream_links.groups.2}'),
  ('c3633055-75d9-819c-0828-fe03407f117e', 'a636f142-3e7b-54ac-9498-4e9e1b44b74d', 'upstream_links.subject.3', 'f8bfc159-c519-97d0-48a1-85e1d2712722', 'upstream_links.human_account_name.3', '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00', '{upstream_links.groups.3}');
INSERT INTO public.upstream_providers VALUES ('ec81e5ba-6518-8525-0d73-4c66bdc143c7', NULL, 'upstream_providers.human_name.1', 'upstream_providers.client_id.1', 2, '2026-01-01 00:01:00+00', '2026-01-01 00:01:00+00', NULL, '2026-01-01 00:01:00+00'),
  ('865e4914-bb39-bf7c-3869-144bfe459e00', 'upstream_providers.issuer.2', 'upstream_providers.human_name.2', 'upstream_providers.client_id.2', 3, '2026-01-01 00:02:00+00', NULL, '{"g": 2}', '2026-01-01 00:02:00+00'),
  ('a636f142-3e7b-54ac-9498-4e9e1b44b74d', 'upstream_providers.issuer.3', NULL, 'upstream_providers.client_id.3', 4, '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00', '{"g": 3}', NULL);
INSERT INTO public.user_email_authentications VALUES ('499546b6-da46-a4c9-b52a-4a718d7b1a7f', 'user_email_authentications.email.1', 'user_email_authentications.email_key.1', 'user_email_authentications.locale.1', '2026-01-01 00:01:00+00', 2, 2, NULL, 2, '2026-01-01 00:01:00+00', NULL),
  ('e356b577-b283-7b27-e4ac-4e26c002a95b', 'user_email_authentications.email.2', 'user_email_authentications.email_key.2', 'user_email_authentications.locale.2', '2026-01-01 00:02:00+00', 3, NULL, '2026-01-01 00:02:00+00', 3, NULL, '2ca5eb8d-374d-b2e7-211f-384669270f1a'),
  ('ae9a895e-5e7e-c272-fa9e-e47550258941', 'user_email_authentications.email.3', 'user_email_authentications.email_key.3', 'user_email_authentications.locale.3', '2026-01-01 00:03:00+00', 4, 4, '2026-01-01 00:03:00+00', 4, '2026-01-01 00:03:00+00', '078ce8b1-3acc-c631-1055-fa6fedd9672b');
INSERT INTO public.user_emails VALUES ('a3b5101f-5195-d38d-3700-752e92216d81', '88984643-2d0f-2eb1-c32c-c3c7ff13bade', 'user_emails.email.1', 'user_emails.email_key.1', '2026-01-01 00:01:00+00'),
  ('f87a53f4-2ccc-fcb5-e6bc-deda275ebc79', '250129c0-fac8-9e57-536b-c76b0aa5d126', 'user_emails.email.2', 'user_emails.email_key.2', '2026-01-01 00:02:00+00'),
  ('3fa5e5e0-9a70-f441-924a-e052c679dee2', 'f8bfc159-c519-97d0-48a1-85e1d2712722', 'user_emails.email.3', 'user_emails.email_key.3', '2026-01-01 00:03:00+00');
INSERT INTO public.user_passkeys VALUES ('2286fb7e-7a76-163b-f389-28df4edf50ae', '88984643-2d0f-2eb1-c32c-c3c7ff13bade', '\xcd0780ae40e5f76796bd5c1498f31a4fc343bdc321d413e59c17b1988f99ff64', '\xc97b2910cbc1d56a5894289b3bf369268e3334494171ff85256ee0e3c1dba3a6', 2, '{user_passkeys.transports.1}', false, NULL, 'user_passkeys.name.1', '2026-01-01 00:01:00+00', NULL),
  ('7b4c65b5-9963-283b-8782-12d59102d1d4', '250129c0-fac8-9e57-536b-c76b0aa5d126', '\x494647549bda0ab6042076b065dd0b6757309f7904c772e38caa05143d8a0080', '\x983eb77dc62ac2f1451127449f0c78f3484952423c43cf5ae666465905a15922', 3, '{user_passkeys.transports.2}', true, '2b8b719b-4a0d-9548-4949-4d0b444f5929', 'user_passkeys.name.2', '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00'),
  ('462257fc-489e-f60c-928e-abc3fedcf8e5', 'f8bfc159-c519-97d0-48a1-85e1d2712722', '\x22341e938eb7ec0c99c35e19b8df19099cdd8cddfcee8faf3bc6fc08f5818c80', '\x6db2e1803720c102a26b9d5ae22e68e737e25a85864672cbadfb33d6cad5dae1', 4, '{user_passkeys.transports.3}', false, '0da657c4-2e93-07ae-36e5-c12b2b7c0f12', 'user_passkeys.name.3', '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00');
INSERT INTO public.user_passwords VALUES ('88984643-2d0f-2eb1-c32c-c3c7ff13bade', '24de870a-ceef-77cb-2833-8436d3331192', 'user_passwords.hash.1', 2, '2026-01-01 00:01:00+00'),
  ('250129c0-fac8-9e57-536b-c76b0aa5d126', '9a2c9979-84dc-7755-e1ac-273b6c74185a', 'user_passwords.hash.2', 3, '2026-01-01 00:02:00+00'),
  ('f8bfc159-c519-97d0-48a1-85e1d2712722', 'fe2a4f2b-9ddc-d807-6d1e-9fb6a12612ff', 'user_passwords.hash.3', 4, '2026-01-01 00:03:00+00');
INSERT INTO public.user_pending_logins VALUES ('23e7a008-c8c5-c682-b781-14551f6a5908', '88984643-2d0f-2eb1-c32c-c3c7ff13bade', '80518375-68fe-57df-b3ea-92e7075a5a0a', 'user_pending_logins.first_factor.1', NULL, '947d40a7-929d-d4b4-f41a-232d974f9e57', '{user_pending_logins.upstream_amr.1}', NULL, '10.0.0.1', 'user_pending_logins.user_agent.1', 2, '\x02429f93ea2464f9079222223e3da88979703c107c2989be544e32a30aaff622', '2026-01-01 00:01:00+00', '2026-01-01 00:01:00+00', '2026-01-01 00:01:00+00', '2026-01-01 00:01:00+00', NULL),
  ('1db38660-974e-8be4-2b67-003807ca832e', '250129c0-fac8-9e57-536b-c76b0aa5d126', '2ca5eb8d-374d-b2e7-211f-384669270f1a', 'user_pending_logins.first_factor.2', '83acf093-fcd6-f24f-a67b-1a5450ce525c', '256ca4b8-b64a-d3d9-541c-9013c7b8aa75', '{user_pending_logins.upstream_amr.2}', '{"g": 2}', '10.0.0.2', NULL, 3, '\xa8c4492dcc0d6a2b416771d743ccab6ba3d6cc2278d8cfa5610927c0ae451984', NULL, '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00', NULL, '{"g": 2}'),
  ('471cacd8-6080-1e0e-4edb-3ba653431b87', 'f8bfc159-c519-97d0-48a1-85e1d2712722', NULL, 'user_pending_logins.first_factor.3', 'aa192e89-c1d7-62a4-c16d-43fe9a15956a', NULL, '{user_pending_logins.upstream_amr.3}', '{"g": 3}', NULL, 'user_pending_logins.user_agent.3', 4, NULL, '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00', '{"g": 3}');
INSERT INTO public.user_recovery_codes VALUES ('2eb6814f-3a62-7285-df4b-fbeee8e54997', '88984643-2d0f-2eb1-c32c-c3c7ff13bade', '\x5b27f07768866ed1ae2c422086a690b12ac38b3f767bf5b2d8c4cd20d2b5345c', '2026-01-01 00:01:00+00', NULL),
  ('722670cf-4edc-3c24-0284-57f3bbd6246a', '250129c0-fac8-9e57-536b-c76b0aa5d126', '\x6933715784778b619e8bfccebc08e3c6a80e066996e77960400dc56922d60869', '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00'),
  ('1b6a9631-7bab-3b8f-9abd-6ca53194e978', 'f8bfc159-c519-97d0-48a1-85e1d2712722', '\xf6a9bcdf83230b4227a769b6e40bbb3debbfe6f26c5801169090d8d9055450bd', '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00');
INSERT INTO public.user_recovery_sessions VALUES ('5b789996-9e98-fec6-01d4-24fb84d355a4', 'user_recovery_sessions.email.1', 'user_recovery_sessions.email_key.1', 'user_recovery_sessions.locale.1', NULL, 'user_recovery_sessions.user_agent.1', '2026-01-01 00:01:00+00', NULL),
  ('4688acc3-6bb3-8ebc-a4f0-b332ba2dd6e6', 'user_recovery_sessions.email.2', 'user_recovery_sessions.email_key.2', 'user_recovery_sessions.locale.2', '10.0.0.2', 'user_recovery_sessions.user_agent.2', '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00'),
  ('f6163de4-bbc0-1056-77fa-4325642f4987', 'user_recovery_sessions.email.3', 'user_recovery_sessions.email_key.3', 'user_recovery_sessions.locale.3', '10.0.0.3', NULL, '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00');
INSERT INTO public.user_recovery_tickets VALUES ('\xcf1b3ce1bfe129d2f33c666e51892d12e6fe587a04baa4c3d42b56e570edaea5', '5b789996-9e98-fec6-01d4-24fb84d355a4', '88984643-2d0f-2eb1-c32c-c3c7ff13bade', 'a3b5101f-5195-d38d-3700-752e92216d81', NULL, '2026-01-01 00:01:00+00'),
  ('\x1584f9a9572645ba27eb2e54d8ea16f2512c9b1f5399abac6f9c741d8e6954c0', '4688acc3-6bb3-8ebc-a4f0-b332ba2dd6e6', '250129c0-fac8-9e57-536b-c76b0aa5d126', 'f87a53f4-2ccc-fcb5-e6bc-deda275ebc79', 'da4a65c7-e03d-011d-7a55-c58fadeab014', '2026-01-01 00:02:00+00'),
  ('\x13026d79d4e09f54e7b59ab12e1b25a027ba04b70ec01e62168c54dbb7598f5d', 'f6163de4-bbc0-1056-77fa-4325642f4987', 'f8bfc159-c519-97d0-48a1-85e1d2712722', '3fa5e5e0-9a70-f441-924a-e052c679dee2', '831be911-f868-09b5-d492-bf7c7f04b6d4', '2026-01-01 00:03:00+00');
INSERT INTO public.user_registration_tokens VALUES ('35702d5c-e502-eaa1-27cf-2e9afb1ae543', '\x2329d1281115790735d6f192fe9c909bbec3a47b57b7eb7dbbd50366bb383648', '\x609d9e68725e4a3f0a82831684f9334836bf72b6e233dc23caaee8602dd67fcb', 2, 2, '2026-01-01 00:01:00+00', '2026-01-01 00:01:00+00', NULL, '2026-01-01 00:01:00+00'),
  ('1a87991c-7d3f-ba9d-0d2d-664046690485', '\x1fcd0573046852beec0a89c408c747627cb5d254f1cb7c9e814c007d79bc98d7', '\x60dc75f6627c2b7baed685f7f437a6118e19627ebef8645d4de429d60fe45558', NULL, 3, '2026-01-01 00:02:00+00', NULL, '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00'),
  ('772785e2-b822-e6e9-b4c2-3b73c62c9099', '\xb97226048073dd0645e6b58f46b226e07c80828ceb362c3238950c288c8e4032', '\x07a522da265d92854da0a4fd80a41e2858a569cb0971babe9bc96d9a8494c5bd', 4, 4, '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00', NULL);
INSERT INTO public.user_registrations VALUES ('bc16b3fe-bdb1-2951-9f7f-aa1effefd075', 'user_registrations.username.1', 'user_registrations.display_name.1', 'user_registrations.password_hash.1', NULL, '{"g": 1}', 'user_registrations.terms_uri.1', NULL, '10.0.0.1', 'user_registrations.user_agent.1', '2026-01-01 00:01:00+00', '2026-01-01 00:01:00+00', '35702d5c-e502-eaa1-27cf-2e9afb1ae543', NULL, false, '499546b6-da46-a4c9-b52a-4a718d7b1a7f', false),
  ('1d9e88a9-582c-a508-1107-172a63d0e391', 'user_registrations.username.2', 'user_registrations.display_name.2', NULL, 3, '{"g": 2}', NULL, 'user_registrations.locale.2', '10.0.0.2', NULL, '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00', NULL, '256ca4b8-b64a-d3d9-541c-9013c7b8aa75', true, NULL, true),
  ('3f1f1219-7e72-225f-1bd0-ca216233320d', 'user_registrations.username.3', NULL, 'user_registrations.password_hash.3', 4, NULL, 'user_registrations.terms_uri.3', 'user_registrations.locale.3', NULL, 'user_registrations.user_agent.3', '2026-01-01 00:03:00+00', NULL, '772785e2-b822-e6e9-b4c2-3b73c62c9099', '312451d4-97b7-6ada-fdd0-8a13052faf39', false, 'ae9a895e-5e7e-c272-fa9e-e47550258941', false);
INSERT INTO public.user_session_authentications VALUES ('80a5f2ab-6dd5-1f59-d1df-b309c53c1c94', '80518375-68fe-57df-b3ea-92e7075a5a0a', 'user_session_authentications.kind.1', '2026-01-01 00:01:00+00'),
  ('1e711c90-3314-30a6-9d31-2c54bffd1597', '2ca5eb8d-374d-b2e7-211f-384669270f1a', 'user_session_authentications.kind.2', '2026-01-01 00:02:00+00'),
  ('84417ee0-1fbf-450e-1553-a0811918be1c', '078ce8b1-3acc-c631-1055-fa6fedd9672b', 'user_session_authentications.kind.3', '2026-01-01 00:03:00+00');
INSERT INTO public.user_sessions VALUES ('80518375-68fe-57df-b3ea-92e7075a5a0a', '88984643-2d0f-2eb1-c32c-c3c7ff13bade', '\x5f28b67d8fddc526b86c7323a59e947fe8ff81a2fa45e16e23f305c90679888a', '\x6c6c9f0d52a7bc5a574a5696e5396d3c1b769ed3e0686f335d00a838b97c07b5', NULL, '2026-01-01 00:01:00+00', 'user_sessions.acr.1', '{user_sessions.amr.1}', 2, 'user_sessions.user_agent.1', '2026-01-01 00:01:00+00', '2026-01-01 00:01:00+00', '10.0.0.1', NULL, 'user_sessions.finish_reason.1'),
  ('2ca5eb8d-374d-b2e7-211f-384669270f1a', '250129c0-fac8-9e57-536b-c76b0aa5d126', '\x6c832e4c815afa3a3747b7a7233c3f978218845d5853421fac05d52c8c84168e', NULL, '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00', NULL, '{user_sessions.amr.2}', 3, NULL, '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00', NULL, '2026-01-01 00:02:00+00', 'user_sessions.finish_reason.2'),
  ('078ce8b1-3acc-c631-1055-fa6fedd9672b', 'f8bfc159-c519-97d0-48a1-85e1d2712722', '\x47d7073693b3ef5a27853dcee7664e7467ae4a8f916a8206862f0835514043a9', '\x78d662b5427f0411729a2e965f568da07aea1701c40037c8772652820d71b848', '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00', 'user_sessions.acr.3', '{user_sessions.amr.3}', 4, 'user_sessions.user_agent.3', '2026-01-01 00:03:00+00', NULL, '10.0.0.3', '2026-01-01 00:03:00+00', NULL);
INSERT INTO public.user_terms VALUES ('88984643-2d0f-2eb1-c32c-c3c7ff13bade', 'user_terms.terms_uri.1', '2026-01-01 00:01:00+00'),
  ('250129c0-fac8-9e57-536b-c76b0aa5d126', 'user_terms.terms_uri.2', '2026-01-01 00:02:00+00'),
  ('f8bfc159-c519-97d0-48a1-85e1d2712722', 'user_terms.terms_uri.3', '2026-01-01 00:03:00+00');
INSERT INTO public.user_totp_enrolments VALUES ('8854f808-c0d2-deaf-dbb2-5e5574392b1a', '88984643-2d0f-2eb1-c32c-c3c7ff13bade', '80518375-68fe-57df-b3ea-92e7075a5a0a', '\xb807632adea3d73b7cd973f72c98b749f72e5cd8473226e60e550c3995d837e0', 2, '2026-01-01 00:01:00+00'),
  ('93d28f2d-6f03-97d4-9b16-6df60da56e9d', '250129c0-fac8-9e57-536b-c76b0aa5d126', '2ca5eb8d-374d-b2e7-211f-384669270f1a', '\x0bf96fe178f6050140067a990ce005a5d5f391c5a4cf8144963bcd4b25d21718', 3, '2026-01-01 00:02:00+00'),
  ('b78c0a1d-712a-3439-17f3-36d1deaf18ec', 'f8bfc159-c519-97d0-48a1-85e1d2712722', '078ce8b1-3acc-c631-1055-fa6fedd9672b', '\x9bc92e8c1d7161b16d0d9c7366e0181fd98ca982a4b4fd0cfbed2170d5067f9b', 4, '2026-01-01 00:03:00+00');
INSERT INTO public.user_totp_secrets VALUES ('3acb31f7-e485-910d-d46f-5931ccb43d5f', '88984643-2d0f-2eb1-c32c-c3c7ff13bade', '\x98da63a1afe810e11a98eef4e9e8ab641eb316994410dae3494529fac793d8d9', 2, '2026-01-01 00:01:00+00', '2026-01-01 00:01:00+00'),
  ('84d394a5-df01-952c-ee6c-b8b2196ba85c', '250129c0-fac8-9e57-536b-c76b0aa5d126', '\x30d9c68edb75666ba7ebef55911198ec72f280aeed2880442dd0a5a3e1029114', 3, '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00'),
  ('f76b6e31-01bc-a7f6-ee12-162c0905750b', 'f8bfc159-c519-97d0-48a1-85e1d2712722', '\xe76e97c58984a33b274b951837bf6b5b4f59e5d77b0b28b159ff700cdfec29e1', 4, '2026-01-01 00:03:00+00', NULL);
INSERT INTO public.user_trusted_browsers VALUES ('\x2411c2bca0ddb30391f3062eecf7e2c0d261bbdb3c32c40e6a7d42aa75bac2ef', '88984643-2d0f-2eb1-c32c-c3c7ff13bade', '7f31ea5f-0d90-781a-462a-6a3247c9c1e4', '2026-01-01 00:01:00+00', '2026-01-01 00:01:00+00'),
  ('\x59a6767234ffa2f4f23ffc4c84c5238c227623dc31f0468998e9ffcd9bcaae53', '250129c0-fac8-9e57-536b-c76b0aa5d126', 'a4452fce-8ceb-7f61-066d-6e35c62a58ec', '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00'),
  ('\xdc9a003a8399a4037059aeee3c393959cccd649654e5eaf3a4b5f560a19f500c', 'f8bfc159-c519-97d0-48a1-85e1d2712722', NULL, '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00');
INSERT INTO public.user_unsupported_threepids VALUES ('88984643-2d0f-2eb1-c32c-c3c7ff13bade', 'user_unsupported_threepids.medium.1', 'user_unsupported_threepids.address.1', '2026-01-01 00:01:00+00'),
  ('250129c0-fac8-9e57-536b-c76b0aa5d126', 'user_unsupported_threepids.medium.2', 'user_unsupported_threepids.address.2', '2026-01-01 00:02:00+00'),
  ('f8bfc159-c519-97d0-48a1-85e1d2712722', 'user_unsupported_threepids.medium.3', 'user_unsupported_threepids.address.3', '2026-01-01 00:03:00+00');
INSERT INTO public.users VALUES ('88984643-2d0f-2eb1-c32c-c3c7ff13bade', 'users.username.1', 'users.username_key.1', 'users.display_name.1', NULL, false, '2026-01-01 00:01:00+00', NULL, '2026-01-01 00:01:00+00', '2026-01-01 00:01:00+00', false, '{users.groups.1}', '{"g": 1}', NULL, '2026-01-01 00:01:00+00'),
  ('250129c0-fac8-9e57-536b-c76b0aa5d126', 'users.username.2', 'users.username_key.2', NULL, 'users.locale.2', true, '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00', NULL, true, '{users.groups.2}', NULL, '2026-01-01 00:02:00+00', '2026-01-01 00:02:00+00'),
  ('f8bfc159-c519-97d0-48a1-85e1d2712722', 'users.username.3', 'users.username_key.3', 'users.display_name.3', 'users.locale.3', false, '2026-01-01 00:03:00+00', '2026-01-01 00:03:00+00', NULL, '2026-01-01 00:03:00+00', false, NULL, '{"g": 3}', '2026-01-01 00:03:00+00', NULL);
INSERT INTO public.webauthn_challenges VALUES ('5a3b2ff5-0362-f0e6-8462-0d787e096341', '\x6a970b42b46a198d42e8ecce99846c8f57d4ae5d773691ba85afb78bb38eeec0', 'webauthn_challenges.purpose.1', '14d19e98-17cd-0d7f-6dd9-a7f396b7a91c', NULL, '2026-01-01 00:01:00+00'),
  ('8a45ae1c-4764-8e87-b6c6-8bf698d0fa18', '\x789c771ecf26e6b315974eb4f35f41b36dc4ecb803d1b0a4d505a4278362a5f7', 'webauthn_challenges.purpose.2', '8399c0b0-974b-35f3-43b4-49df39b0bf1f', NULL, '2026-01-01 00:02:00+00'),
  ('4eb8d779-fef9-323a-edab-f7b0ed992f44', '\xe3936042a1cdaea782d0494042f80fa235a9ca336f93e3ef884ed543ef0131b0', 'webauthn_challenges.purpose.3', NULL, '622600ce-1a27-703d-0263-5780f5366f0d', '2026-01-01 00:03:00+00');
ALTER TABLE ONLY public.audit_events ADD CONSTRAINT audit_events_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.compat_access_tokens ADD CONSTRAINT compat_access_tokens_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.compat_access_tokens ADD CONSTRAINT compat_access_tokens_token_hash_key UNIQUE (token_hash);
ALTER TABLE ONLY public.compat_refresh_tokens ADD CONSTRAINT compat_refresh_tokens_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.compat_refresh_tokens ADD CONSTRAINT compat_refresh_tokens_token_hash_key UNIQUE (token_hash);
ALTER TABLE ONLY public.compat_sessions ADD CONSTRAINT compat_sessions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.compat_sessions ADD CONSTRAINT compat_sessions_refresh_family_key UNIQUE (refresh_family);
ALTER TABLE ONLY public.compat_sso_logins ADD CONSTRAINT compat_sso_logins_login_token_hash_key UNIQUE (login_token_hash);
ALTER TABLE ONLY public.compat_sso_logins ADD CONSTRAINT compat_sso_logins_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.data_exports ADD CONSTRAINT data_exports_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.homeserver_leases ADD CONSTRAINT homeserver_leases_pkey PRIMARY KEY (user_id);
ALTER TABLE ONLY public.login_failures ADD CONSTRAINT login_failures_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.oauth2_access_tokens ADD CONSTRAINT oauth2_access_tokens_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.oauth2_access_tokens ADD CONSTRAINT oauth2_access_tokens_token_hash_key UNIQUE (token_hash);
ALTER TABLE ONLY public.oauth2_authorization_grants ADD CONSTRAINT oauth2_authorization_grants_code_hash_key UNIQUE (code_hash);
ALTER TABLE ONLY public.oauth2_authorization_grants ADD CONSTRAINT oauth2_authorization_grants_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.oauth2_clients ADD CONSTRAINT oauth2_clients_metadata_digest_key UNIQUE (metadata_digest);
ALTER TABLE ONLY public.oauth2_clients ADD CONSTRAINT oauth2_clients_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.oauth2_clients ADD CONSTRAINT oauth2_clients_registration_token_hash_key UNIQUE (registration_token_hash);
ALTER TABLE ONLY public.oauth2_consents ADD CONSTRAINT oauth2_consents_id_key UNIQUE (id);
ALTER TABLE ONLY public.oauth2_consents ADD CONSTRAINT oauth2_consents_pkey PRIMARY KEY (user_id, client_id);
ALTER TABLE ONLY public.oauth2_device_code_grants ADD CONSTRAINT oauth2_device_code_grants_device_code_hash_key UNIQUE (device_code_hash);
ALTER TABLE ONLY public.oauth2_device_code_grants ADD CONSTRAINT oauth2_device_code_grants_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.oauth2_pushed_requests ADD CONSTRAINT oauth2_pushed_requests_pkey PRIMARY KEY (request_uri_hash);
ALTER TABLE ONLY public.oauth2_refresh_tokens ADD CONSTRAINT oauth2_refresh_tokens_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.oauth2_refresh_tokens ADD CONSTRAINT oauth2_refresh_tokens_token_hash_key UNIQUE (token_hash);
ALTER TABLE ONLY public.oauth2_sessions ADD CONSTRAINT oauth2_sessions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.oauth2_sessions ADD CONSTRAINT oauth2_sessions_refresh_family_key UNIQUE (refresh_family);
ALTER TABLE ONLY public.personal_access_tokens ADD CONSTRAINT personal_access_tokens_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.personal_access_tokens ADD CONSTRAINT personal_access_tokens_token_hash_key UNIQUE (token_hash);
ALTER TABLE ONLY public.personal_sessions ADD CONSTRAINT personal_sessions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.policy_data ADD CONSTRAINT policy_data_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.queue_jobs ADD CONSTRAINT queue_jobs_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.queue_workers ADD CONSTRAINT queue_workers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.rate_limits ADD CONSTRAINT rate_limits_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.replayed_values ADD CONSTRAINT replayed_values_pkey PRIMARY KEY (value_hash);
ALTER TABLE ONLY public.schema_migrations ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);
ALTER TABLE ONLY public.secret_keys ADD CONSTRAINT secret_keys_pkey PRIMARY KEY (purpose);
ALTER TABLE ONLY public.server_state ADD CONSTRAINT server_state_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.upstream_authorizations ADD CONSTRAINT upstream_authorizations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.upstream_authorizations ADD CONSTRAINT upstream_authorizations_state_hash_key UNIQUE (state_hash);
ALTER TABLE ONLY public.upstream_links ADD CONSTRAINT upstream_links_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.upstream_links ADD CONSTRAINT upstream_links_provider_id_subject_key UNIQUE (provider_id, subject);
ALTER TABLE ONLY public.upstream_providers ADD CONSTRAINT upstream_providers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.user_email_authentications ADD CONSTRAINT user_email_authentications_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.user_emails ADD CONSTRAINT user_emails_email_key_key UNIQUE (email_key);
ALTER TABLE ONLY public.user_emails ADD CONSTRAINT user_emails_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.user_passkeys ADD CONSTRAINT user_passkeys_credential_id_key UNIQUE (credential_id);
ALTER TABLE ONLY public.user_passkeys ADD CONSTRAINT user_passkeys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.user_passwords ADD CONSTRAINT user_passwords_id_key UNIQUE (id);
ALTER TABLE ONLY public.user_passwords ADD CONSTRAINT user_passwords_pkey PRIMARY KEY (user_id);
ALTER TABLE ONLY public.user_pending_logins ADD CONSTRAINT user_pending_logins_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.user_recovery_codes ADD CONSTRAINT user_recovery_codes_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.user_recovery_codes ADD CONSTRAINT user_recovery_codes_user_id_code_hmac_key UNIQUE (user_id, code_hmac);
ALTER TABLE ONLY public.user_recovery_sessions ADD CONSTRAINT user_recovery_sessions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.user_recovery_tickets ADD CONSTRAINT user_recovery_tickets_pkey PRIMARY KEY (ticket_hash);
ALTER TABLE ONLY public.user_registration_tokens ADD CONSTRAINT user_registration_tokens_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.user_registration_tokens ADD CONSTRAINT user_registration_tokens_token_hmac_key UNIQUE (token_hmac);
ALTER TABLE ONLY public.user_registrations ADD CONSTRAINT user_registrations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.user_session_authentications ADD CONSTRAINT user_session_authentications_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.user_sessions ADD CONSTRAINT user_sessions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.user_terms ADD CONSTRAINT user_terms_pkey PRIMARY KEY (user_id, terms_uri);
ALTER TABLE ONLY public.user_totp_enrolments ADD CONSTRAINT user_totp_enrolments_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.user_totp_enrolments ADD CONSTRAINT user_totp_enrolments_user_session_id_key UNIQUE (user_session_id);
ALTER TABLE ONLY public.user_totp_secrets ADD CONSTRAINT user_totp_secrets_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.user_totp_secrets ADD CONSTRAINT user_totp_secrets_user_id_key UNIQUE (user_id);
ALTER TABLE ONLY public.user_trusted_browsers ADD CONSTRAINT user_trusted_browsers_pkey PRIMARY KEY (nonce_hash);
ALTER TABLE ONLY public.user_unsupported_threepids ADD CONSTRAINT user_unsupported_threepids_pkey PRIMARY KEY (user_id, medium, address);
ALTER TABLE ONLY public.users ADD CONSTRAINT users_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.users ADD CONSTRAINT users_username_key UNIQUE (username);
ALTER TABLE ONLY public.users ADD CONSTRAINT users_username_key_key UNIQUE (username_key);
ALTER TABLE ONLY public.webauthn_challenges ADD CONSTRAINT webauthn_challenges_challenge_hash_key UNIQUE (challenge_hash);
ALTER TABLE ONLY public.webauthn_challenges ADD CONSTRAINT webauthn_challenges_pkey PRIMARY KEY (id);
CREATE INDEX audit_events_created_at ON public.audit_events USING btree (created_at);
CREATE INDEX audit_events_of_user ON public.audit_events USING btree (user_id, id) WHERE (user_id IS NOT NULL);
CREATE INDEX audit_events_user ON public.audit_events USING btree (user_id, created_at) WHERE (user_id IS NOT NULL);
CREATE INDEX compat_access_tokens_session ON public.compat_access_tokens USING btree (session_id);
CREATE INDEX compat_refresh_tokens_session ON public.compat_refresh_tokens USING btree (session_id);
CREATE INDEX compat_sessions_finished_at ON public.compat_sessions USING btree (finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX compat_sessions_live ON public.compat_sessions USING btree (created_at, id) WHERE (finished_at IS NULL);
CREATE UNIQUE INDEX compat_sessions_live_device ON public.compat_sessions USING btree (user_id, device_id) WHERE ((finished_at IS NULL) AND (device_id IS NOT NULL));
CREATE INDEX compat_sessions_live_of_user ON public.compat_sessions USING btree (user_id, id) WHERE (finished_at IS NULL);
CREATE INDEX compat_sessions_user ON public.compat_sessions USING btree (user_id, id);
CREATE INDEX compat_sessions_user_session ON public.compat_sessions USING btree (user_session_id) WHERE (user_session_id IS NOT NULL);
CREATE INDEX compat_sso_logins_compat_session ON public.compat_sso_logins USING btree (compat_session_id) WHERE (compat_session_id IS NOT NULL);
CREATE INDEX compat_sso_logins_unexchanged ON public.compat_sso_logins USING btree (created_at) WHERE (exchanged_at IS NULL);
CREATE INDEX compat_sso_logins_unused ON public.compat_sso_logins USING btree (requester_ip, expires_at) WHERE (fulfilled_at IS NULL);
CREATE INDEX compat_sso_logins_user_session ON public.compat_sso_logins USING btree (user_session_id) WHERE (user_session_id IS NOT NULL);
CREATE INDEX data_exports_expires_at ON public.data_exports USING btree (expires_at);
CREATE INDEX data_exports_user ON public.data_exports USING btree (user_id, id);
CREATE INDEX homeserver_leases_expires_at ON public.homeserver_leases USING btree (expires_at);
CREATE INDEX login_failures_last_failed_at ON public.login_failures USING btree (last_failed_at);
CREATE INDEX oauth2_access_tokens_expires_at ON public.oauth2_access_tokens USING btree (expires_at);
CREATE INDEX oauth2_access_tokens_session ON public.oauth2_access_tokens USING btree (session_id);
CREATE INDEX oauth2_authorization_grants_client ON public.oauth2_authorization_grants USING btree (client_id);
CREATE INDEX oauth2_authorization_grants_created_at ON public.oauth2_authorization_grants USING btree (created_at);
CREATE INDEX oauth2_authorization_grants_session ON public.oauth2_authorization_grants USING btree (oauth2_session_id) WHERE (oauth2_session_id IS NOT NULL);
CREATE INDEX oauth2_authorization_grants_unused ON public.oauth2_authorization_grants USING btree (requester_ip, expires_at) WHERE (exchanged_at IS NULL);
CREATE INDEX oauth2_authorization_grants_unused_of_user ON public.oauth2_authorization_grants USING btree (requester_user_id, expires_at) WHERE ((exchanged_at IS NULL) AND (requester_user_id IS NOT NULL));
CREATE INDEX oauth2_authorization_grants_user_session ON public.oauth2_authorization_grants USING btree (user_session_id) WHERE (user_session_id IS NOT NULL);
CREATE INDEX oauth2_clients_static ON public.oauth2_clients USING btree (id) WHERE is_static;
CREATE INDEX oauth2_consents_client_id ON public.oauth2_consents USING btree (client_id);
CREATE INDEX oauth2_device_code_grants_client ON public.oauth2_device_code_grants USING btree (client_id);
CREATE INDEX oauth2_device_code_grants_created_at ON public.oauth2_device_code_grants USING btree (created_at);
CREATE INDEX oauth2_device_code_grants_session ON public.oauth2_device_code_grants USING btree (oauth2_session_id) WHERE (oauth2_session_id IS NOT NULL);
CREATE INDEX oauth2_device_code_grants_unused ON public.oauth2_device_code_grants USING btree (requester_ip, expires_at) WHERE (exchanged_at IS NULL);
CREATE UNIQUE INDEX oauth2_device_code_grants_user_code ON public.oauth2_device_code_grants USING btree (user_code_hmac) WHERE ((fulfilled_at IS NULL) AND (rejected_at IS NULL));
CREATE INDEX oauth2_device_code_grants_user_session ON public.oauth2_device_code_grants USING btree (user_session_id) WHERE (user_session_id IS NOT NULL);
CREATE INDEX oauth2_pushed_requests_client ON public.oauth2_pushed_requests USING btree (client_id);
CREATE INDEX oauth2_pushed_requests_expires_at ON public.oauth2_pushed_requests USING btree (expires_at);
CREATE INDEX oauth2_pushed_requests_grant ON public.oauth2_pushed_requests USING btree (authorization_grant_id) WHERE (authorization_grant_id IS NOT NULL);
CREATE INDEX oauth2_pushed_requests_unused ON public.oauth2_pushed_requests USING btree (requester_ip, expires_at) WHERE ((consumed_at IS NULL) AND (requester_ip IS NOT NULL));
CREATE INDEX oauth2_refresh_tokens_session ON public.oauth2_refresh_tokens USING btree (session_id);
CREATE INDEX oauth2_sessions_client ON public.oauth2_sessions USING btree (client_id);
CREATE INDEX oauth2_sessions_finished_at ON public.oauth2_sessions USING btree (finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX oauth2_sessions_live ON public.oauth2_sessions USING btree (id) WHERE ((finished_at IS NULL) AND (id > '00000000-0000-0000-0000-000000000000'::uuid));
CREATE INDEX oauth2_sessions_live_by_client ON public.oauth2_sessions USING btree (user_id, client_id) WHERE ((finished_at IS NULL) AND (user_id IS NOT NULL) AND (created_at > '-infinity'::timestamp with time zone));
CREATE UNIQUE INDEX oauth2_sessions_live_device ON public.oauth2_sessions USING btree (user_id, device_id) WHERE ((finished_at IS NULL) AND (device_id IS NOT NULL));
CREATE INDEX oauth2_sessions_live_of_user ON public.oauth2_sessions USING btree (user_id, id) WHERE ((finished_at IS NULL) AND (user_id IS NOT NULL) AND (created_at < 'infinity'::timestamp with time zone));
CREATE INDEX oauth2_sessions_live_of_users ON public.oauth2_sessions USING btree (created_at, id) WHERE ((finished_at IS NULL) AND (user_id IS NOT NULL) AND (created_at > '-infinity'::timestamp with time zone));
CREATE INDEX oauth2_sessions_parent ON public.oauth2_sessions USING btree (parent_session_id) WHERE (parent_session_id IS NOT NULL);
CREATE INDEX oauth2_sessions_user ON public.oauth2_sessions USING btree (user_id, id) WHERE (user_id IS NOT NULL);
CREATE INDEX oauth2_sessions_user_session ON public.oauth2_sessions USING btree (user_session_id) WHERE (user_session_id IS NOT NULL);
CREATE UNIQUE INDEX personal_access_tokens_current ON public.personal_access_tokens USING btree (session_id) WHERE (revoked_at IS NULL);
CREATE INDEX personal_access_tokens_expires_at ON public.personal_access_tokens USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX personal_access_tokens_revoked_at ON public.personal_access_tokens USING btree (revoked_at) WHERE (revoked_at IS NOT NULL);
CREATE INDEX personal_access_tokens_session ON public.personal_access_tokens USING btree (session_id);
CREATE INDEX personal_sessions_actor ON public.personal_sessions USING btree (actor_user_id, id);
CREATE INDEX personal_sessions_owner_client ON public.personal_sessions USING btree (owner_client_id, id) WHERE (owner_client_id IS NOT NULL);
CREATE INDEX personal_sessions_owner_user ON public.personal_sessions USING btree (owner_user_id, id) WHERE (owner_user_id IS NOT NULL);
CREATE INDEX personal_sessions_revoked_at ON public.personal_sessions USING btree (revoked_at) WHERE (revoked_at IS NOT NULL);
CREATE INDEX queue_jobs_due ON public.queue_jobs USING btree (due_at) WHERE (failed_at IS NULL);
CREATE INDEX queue_jobs_failed_at ON public.queue_jobs USING btree (failed_at) WHERE (failed_at IS NOT NULL);
CREATE UNIQUE INDEX queue_jobs_waiting ON public.queue_jobs USING btree (queue, dedup_key) WHERE ((worker IS NULL) AND (failed_at IS NULL));
CREATE INDEX queue_workers_last_seen_at ON public.queue_workers USING btree (last_seen_at);
CREATE INDEX rate_limits_tat ON public.rate_limits USING btree (tat);
CREATE INDEX replayed_values_expires_at ON public.replayed_values USING btree (expires_at);
CREATE INDEX upstream_authorizations_created_at ON public.upstream_authorizations USING btree (created_at, id);
CREATE INDEX upstream_authorizations_link ON public.upstream_authorizations USING btree (link_id) WHERE (link_id IS NOT NULL);
CREATE INDEX upstream_authorizations_session ON public.upstream_authorizations USING btree (user_session_id) WHERE (user_session_id IS NOT NULL);
CREATE INDEX upstream_authorizations_sid ON public.upstream_authorizations USING btree (provider_id, sid) WHERE (sid IS NOT NULL);
CREATE INDEX upstream_authorizations_sub ON public.upstream_authorizations USING btree (provider_id, sub) WHERE (sub IS NOT NULL);
CREATE INDEX upstream_links_groups ON public.upstream_links USING gin (groups) WHERE ((groups IS NOT NULL) AND (user_id IS NOT NULL));
CREATE INDEX upstream_links_unowned ON public.upstream_links USING btree (created_at) WHERE (user_id IS NULL);
CREATE INDEX upstream_links_user ON public.upstream_links USING btree (user_id, provider_id) WHERE (user_id IS NOT NULL);
CREATE INDEX upstream_providers_enabled ON public.upstream_providers USING btree (id) WHERE (disabled_at IS NULL);
CREATE INDEX user_email_authentications_created_at ON public.user_email_authentications USING btree (created_at);
CREATE INDEX user_email_authentications_email_key ON public.user_email_authentications USING btree (email_key);
CREATE INDEX user_email_authentications_session ON public.user_email_authentications USING btree (user_session_id) WHERE (user_session_id IS NOT NULL);
CREATE INDEX user_emails_user_id ON public.user_emails USING btree (user_id, created_at);
CREATE INDEX user_passkeys_user ON public.user_passkeys USING btree (user_id, id);
CREATE INDEX user_pending_logins_expires_at ON public.user_pending_logins USING btree (expires_at);
CREATE INDEX user_pending_logins_upstream_authorization_id ON public.user_pending_logins USING btree (upstream_authorization_id) WHERE (upstream_authorization_id IS NOT NULL);
CREATE INDEX user_pending_logins_user_id ON public.user_pending_logins USING btree (user_id);
CREATE INDEX user_pending_logins_user_session_id ON public.user_pending_logins USING btree (user_session_id) WHERE (user_session_id IS NOT NULL);
CREATE INDEX user_recovery_sessions_created_at ON public.user_recovery_sessions USING btree (created_at);
CREATE INDEX user_recovery_sessions_open ON public.user_recovery_sessions USING btree (email_key, created_at) WHERE (consumed_at IS NULL);
CREATE INDEX user_recovery_tickets_session_id ON public.user_recovery_tickets USING btree (session_id);
CREATE INDEX user_recovery_tickets_user_email_id ON public.user_recovery_tickets USING btree (user_email_id);
CREATE INDEX user_recovery_tickets_user_id ON public.user_recovery_tickets USING btree (user_id);
CREATE INDEX user_registration_tokens_created_at ON public.user_registration_tokens USING btree (created_at, id);
CREATE INDEX user_registrations_created_at ON public.user_registrations USING btree (created_at);
CREATE INDEX user_registrations_email_authentication ON public.user_registrations USING btree (email_authentication_id) WHERE (email_authentication_id IS NOT NULL);
CREATE INDEX user_registrations_registration_token ON public.user_registrations USING btree (registration_token_id) WHERE (registration_token_id IS NOT NULL);
CREATE INDEX user_registrations_upstream_authorization ON public.user_registrations USING btree (upstream_authorization_id) WHERE (upstream_authorization_id IS NOT NULL);
CREATE INDEX user_session_authentications_session ON public.user_session_authentications USING btree (user_session_id, created_at);
CREATE INDEX user_sessions_finished_at ON public.user_sessions USING btree (finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX user_sessions_live ON public.user_sessions USING btree (user_id, last_active_at) WHERE (finished_at IS NULL);
CREATE INDEX user_sessions_live_of_user ON public.user_sessions USING btree (user_id, id) WHERE (finished_at IS NULL);
CREATE INDEX user_sessions_user ON public.user_sessions USING btree (user_id, id);
CREATE INDEX user_totp_enrolments_created_at ON public.user_totp_enrolments USING btree (created_at);
CREATE INDEX user_totp_enrolments_user ON public.user_totp_enrolments USING btree (user_id);
CREATE INDEX user_trusted_browsers_expires_at ON public.user_trusted_browsers USING btree (expires_at);
CREATE INDEX user_trusted_browsers_user_id ON public.user_trusted_browsers USING btree (user_id);
CREATE INDEX users_admins ON public.users USING btree (id) WHERE can_request_admin;
CREATE INDEX users_case_variants ON public.users USING btree (lower((username COLLATE "C"))) WHERE (username_key <> lower((username COLLATE "C")));
CREATE INDEX users_groups ON public.users USING gin (groups) WHERE (groups IS NOT NULL);
CREATE INDEX webauthn_challenges_expires_at ON public.webauthn_challenges USING btree (expires_at);
CREATE TRIGGER users_updated_at BEFORE UPDATE OF username, display_name, locale ON public.users FOR EACH ROW EXECUTE FUNCTION public.note_profile_change();
ALTER TABLE ONLY public.compat_access_tokens ADD CONSTRAINT compat_access_tokens_session_id_fkey FOREIGN KEY (session_id) REFERENCES public.compat_sessions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.compat_refresh_tokens ADD CONSTRAINT compat_refresh_tokens_session_id_fkey FOREIGN KEY (session_id) REFERENCES public.compat_sessions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.compat_sessions ADD CONSTRAINT compat_sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.compat_sessions ADD CONSTRAINT compat_sessions_user_session_id_fkey FOREIGN KEY (user_session_id) REFERENCES public.user_sessions(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.compat_sso_logins ADD CONSTRAINT compat_sso_logins_compat_session_id_fkey FOREIGN KEY (compat_session_id) REFERENCES public.compat_sessions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.compat_sso_logins ADD CONSTRAINT compat_sso_logins_user_session_id_fkey FOREIGN KEY (user_session_id) REFERENCES public.user_sessions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.data_exports ADD CONSTRAINT data_exports_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.homeserver_leases ADD CONSTRAINT homeserver_leases_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.oauth2_access_tokens ADD CONSTRAINT oauth2_access_tokens_session_id_fkey FOREIGN KEY (session_id) REFERENCES public.oauth2_sessions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.oauth2_authorization_grants ADD CONSTRAINT oauth2_authorization_grants_client_id_fkey FOREIGN KEY (client_id) REFERENCES public.oauth2_clients(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.oauth2_authorization_grants ADD CONSTRAINT oauth2_authorization_grants_oauth2_session_id_fkey FOREIGN KEY (oauth2_session_id) REFERENCES public.oauth2_sessions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.oauth2_authorization_grants ADD CONSTRAINT oauth2_authorization_grants_user_session_id_fkey FOREIGN KEY (user_session_id) REFERENCES public.user_sessions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.oauth2_consents ADD CONSTRAINT oauth2_consents_client_id_fkey FOREIGN KEY (client_id) REFERENCES public.oauth2_clients(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.oauth2_consents ADD CONSTRAINT oauth2_consents_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.oauth2_device_code_grants ADD CONSTRAINT oauth2_device_code_grants_client_id_fkey FOREIGN KEY (client_id) REFERENCES public.oauth2_clients(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.oauth2_device_code_grants ADD CONSTRAINT oauth2_device_code_grants_oauth2_session_id_fkey FOREIGN KEY (oauth2_session_id) REFERENCES public.oauth2_sessions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.oauth2_device_code_grants ADD CONSTRAINT oauth2_device_code_grants_user_session_id_fkey FOREIGN KEY (user_session_id) REFERENCES public.user_sessions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.oauth2_pushed_requests ADD CONSTRAINT oauth2_pushed_requests_authorization_grant_id_fkey FOREIGN KEY (authorization_grant_id) REFERENCES public.oauth2_authorization_grants(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.oauth2_pushed_requests ADD CONSTRAINT oauth2_pushed_requests_client_id_fkey FOREIGN KEY (client_id) REFERENCES public.oauth2_clients(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.oauth2_refresh_tokens ADD CONSTRAINT oauth2_refresh_tokens_session_id_fkey FOREIGN KEY (session_id) REFERENCES public.oauth2_sessions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.oauth2_sessions ADD CONSTRAINT oauth2_sessions_client_id_fkey FOREIGN KEY (client_id) REFERENCES public.oauth2_clients(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.oauth2_sessions ADD CONSTRAINT oauth2_sessions_parent_session_id_fkey FOREIGN KEY (parent_session_id) REFERENCES public.oauth2_sessions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.oauth2_sessions ADD CONSTRAINT oauth2_sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.oauth2_sessions ADD CONSTRAINT oauth2_sessions_user_session_id_fkey FOREIGN KEY (user_session_id) REFERENCES public.user_sessions(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.personal_access_tokens ADD CONSTRAINT personal_access_tokens_session_id_fkey FOREIGN KEY (session_id) REFERENCES public.personal_sessions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.personal_sessions ADD CONSTRAINT personal_sessions_actor_user_id_fkey FOREIGN KEY (actor_user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.personal_sessions ADD CONSTRAINT personal_sessions_owner_client_id_fkey FOREIGN KEY (owner_client_id) REFERENCES public.oauth2_clients(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.personal_sessions ADD CONSTRAINT personal_sessions_owner_user_id_fkey FOREIGN KEY (owner_user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.upstream_authorizations ADD CONSTRAINT upstream_authorizations_link_id_fkey FOREIGN KEY (link_id) REFERENCES public.upstream_links(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.upstream_authorizations ADD CONSTRAINT upstream_authorizations_provider_id_fkey FOREIGN KEY (provider_id) REFERENCES public.upstream_providers(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.upstream_authorizations ADD CONSTRAINT upstream_authorizations_user_session_id_fkey FOREIGN KEY (user_session_id) REFERENCES public.user_sessions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.upstream_links ADD CONSTRAINT upstream_links_provider_id_fkey FOREIGN KEY (provider_id) REFERENCES public.upstream_providers(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.upstream_links ADD CONSTRAINT upstream_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.user_email_authentications ADD CONSTRAINT user_email_authentications_user_session_id_fkey FOREIGN KEY (user_session_id) REFERENCES public.user_sessions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.user_emails ADD CONSTRAINT user_emails_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.user_passkeys ADD CONSTRAINT user_passkeys_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.user_passwords ADD CONSTRAINT user_passwords_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.user_pending_logins ADD CONSTRAINT user_pending_logins_upstream_authorization_id_fkey FOREIGN KEY (upstream_authorization_id) REFERENCES public.upstream_authorizations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.user_pending_logins ADD CONSTRAINT user_pending_logins_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.user_pending_logins ADD CONSTRAINT user_pending_logins_user_session_id_fkey FOREIGN KEY (user_session_id) REFERENCES public.user_sessions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.user_recovery_codes ADD CONSTRAINT user_recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.user_recovery_tickets ADD CONSTRAINT user_recovery_tickets_session_id_fkey FOREIGN KEY (session_id) REFERENCES public.user_recovery_sessions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.user_recovery_tickets ADD CONSTRAINT user_recovery_tickets_user_email_id_fkey FOREIGN KEY (user_email_id) REFERENCES public.user_emails(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.user_recovery_tickets ADD CONSTRAINT user_recovery_tickets_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.user_registrations ADD CONSTRAINT user_registrations_email_authentication_id_fkey FOREIGN KEY (email_authentication_id) REFERENCES public.user_email_authentications(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.user_registrations ADD CONSTRAINT user_registrations_registration_token_id_fkey FOREIGN KEY (registration_token_id) REFERENCES public.user_registration_tokens(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.user_registrations ADD CONSTRAINT user_registrations_upstream_authorization_id_fkey FOREIGN KEY (upstream_authorization_id) REFERENCES public.upstream_authorizations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.user_session_authentications ADD CONSTRAINT user_session_authentications_user_session_id_fkey FOREIGN KEY (user_session_id) REFERENCES public.user_sessions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.user_sessions ADD CONSTRAINT user_sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.user_terms ADD CONSTRAINT user_terms_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.user_totp_enrolments ADD CONSTRAINT user_totp_enrolments_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.user_totp_enrolments ADD CONSTRAINT user_totp_enrolments_user_session_id_fkey FOREIGN KEY (user_session_id) REFERENCES public.user_sessions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.user_totp_secrets ADD CONSTRAINT user_totp_secrets_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.user_trusted_browsers ADD CONSTRAINT user_trusted_browsers_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.user_unsupported_threepids ADD CONSTRAINT user_unsupported_threepids_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
