import type { GraphQLSchema } from 'graphql';
import './add-user.ts';
import './app-session.ts';
import './applications.ts';
import './browser-session.ts';
import { builder } from './builder.ts';
import './compat-sso-login.ts';
import './end-all-sessions.ts';
import './change-emails.ts';
import './email-authentication.ts';
import './create-oauth2-session.ts';
import './cross-signing-reset.ts';
import './data-export.ts';
import './deactivate-user.ts';
import './end-sessions.ts';
import './list-users.ts';
import './lock-user.ts';
import './matrix-user.ts';
import './name-sessions.ts';
import './oauth2-client.ts';
import './one-time-codes.ts';
import './change-one-time-codes.ts';
import './change-passkeys.ts';
import './passkeys.ts';
import './query-node.ts';
import './recover-password.ts';
import './recovery-ticket.ts';
import './set-password.ts';
import './security-events.ts';
import './set-can-request-admin.ts';
import './set-display-name.ts';
import './set-profile.ts';
import './site-config.ts';
import './unlink-upstream.ts';
import './upstream.ts';
import './user.ts';
import './user-email.ts';
import './viewer.ts';

/** Builds the account schema (account-graphql 3 to 5). */
export function buildAccountSchema(): GraphQLSchema {
  return builder.toSchema();
}
