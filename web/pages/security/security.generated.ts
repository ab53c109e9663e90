// Written by scripts/generate-reference.js from security.graphql.
import { gql, type TypedDocumentNode } from '@urql/core';

export type SecurityOverviewData = { readonly viewer: { readonly __typename: 'Anonymous' } | { readonly __typename: 'User'; readonly id: string; readonly username: string; readonly hasPassword: boolean; readonly totp: { readonly createdAt: string; readonly lastUsedAt: string | null } | null; readonly recoveryCodes: { readonly total: number; readonly remaining: number } | null; readonly securityEvents: { readonly nodes: readonly ({ readonly id: string; readonly createdAt: string })[] } }; readonly siteConfig: { readonly id: string; readonly passwordLoginEnabled: boolean; readonly passwordChangeAllowed: boolean; readonly totpEnabled: boolean } };

export type SecurityOverviewVariables = { readonly [name: string]: never };

export const SecurityOverview: TypedDocumentNode<SecurityOverviewData, SecurityOverviewVariables> = /* @__PURE__ */ gql(
  "query SecurityOverview{viewer{__typename ...on User{id username hasPassword totp{createdAt lastUsedAt}recoveryCodes{total remaining}securityEvents(kind:[PASSWORD_CHANGED PASSWORD_RECOVERED]last:1){nodes{id createdAt}}}}siteConfig{id passwordLoginEnabled passwordChangeAllowed totpEnabled}}",
);

export type EndAllSessionsData = { readonly endAllSessions: { readonly status: 'ENDED'; readonly browserSessions: number; readonly oauth2Sessions: number; readonly compatSessions: number } };

export type EndAllSessionsVariables = { readonly kinds?: readonly ('BROWSER' | 'COMPAT' | 'OAUTH2')[] | null | undefined; readonly keepCurrent?: boolean | null | undefined };

export const EndAllSessions: TypedDocumentNode<EndAllSessionsData, EndAllSessionsVariables> = /* @__PURE__ */ gql(
  "mutation EndAllSessions($kinds:[SessionKind!]$keepCurrent:Boolean){endAllSessions(input:{kinds:$kinds keepCurrent:$keepCurrent}){status browserSessions oauth2Sessions compatSessions}}",
);
