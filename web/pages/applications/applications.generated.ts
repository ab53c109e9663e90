// Written by scripts/generate-reference.js from applications.graphql.
import { gql, type TypedDocumentNode } from '@urql/core';

export type AllowedClient = { readonly id: string; readonly clientId: string; readonly clientName: string | null; readonly logoUri: string | null };

export type ConnectedApplicationListData = { readonly viewer: { readonly __typename: 'Anonymous' } | { readonly __typename: 'User'; readonly id: string; readonly connectedApplications: { readonly nodes: readonly ({ readonly id: string; readonly client: { readonly id: string; readonly clientId: string; readonly clientName: string | null; readonly logoUri: string | null } })[]; readonly pageInfo: { readonly hasNextPage: boolean; readonly hasPreviousPage: boolean; readonly startCursor: string | null; readonly endCursor: string | null } } } };

export type ConnectedApplicationListVariables = { readonly first?: number | null | undefined; readonly after?: string | null | undefined; readonly last?: number | null | undefined; readonly before?: string | null | undefined };

export const ConnectedApplicationList: TypedDocumentNode<ConnectedApplicationListData, ConnectedApplicationListVariables> = /* @__PURE__ */ gql(
  "query ConnectedApplicationList($first:Int$after:String$last:Int$before:String){viewer{__typename ...on User{id connectedApplications(first:$first after:$after last:$last before:$before){nodes{id client{...AllowedClient}}pageInfo{hasNextPage hasPreviousPage startCursor endCursor}}}}}fragment AllowedClient on Oauth2Client{id clientId clientName logoUri}",
);

export type ConnectedApplicationFactsData = { readonly viewer: { readonly __typename: 'Anonymous' } | { readonly __typename: 'User'; readonly id: string; readonly connectedApplications: { readonly nodes: readonly ({ readonly id: string; readonly firstAuthorizedAt: string; readonly lastActiveAt: string | null; readonly activeSessions: number; readonly scopes: readonly (string)[] })[] } } };

export type ConnectedApplicationFactsVariables = { readonly first?: number | null | undefined; readonly after?: string | null | undefined; readonly last?: number | null | undefined; readonly before?: string | null | undefined };

export const ConnectedApplicationFacts: TypedDocumentNode<ConnectedApplicationFactsData, ConnectedApplicationFactsVariables> = /* @__PURE__ */ gql(
  "query ConnectedApplicationFacts($first:Int$after:String$last:Int$before:String){viewer{__typename ...on User{id connectedApplications(first:$first after:$after last:$last before:$before){nodes{id firstAuthorizedAt lastActiveAt activeSessions scopes}}}}}",
);

export type ConsentListData = { readonly viewer: { readonly __typename: 'Anonymous' } | { readonly __typename: 'User'; readonly id: string; readonly consents: { readonly nodes: readonly ({ readonly id: string; readonly updatedAt: string; readonly scopes: readonly (string)[]; readonly client: { readonly id: string; readonly clientId: string; readonly clientName: string | null; readonly logoUri: string | null } })[]; readonly pageInfo: { readonly hasNextPage: boolean; readonly hasPreviousPage: boolean; readonly startCursor: string | null; readonly endCursor: string | null } } } };

export type ConsentListVariables = { readonly first?: number | null | undefined; readonly after?: string | null | undefined; readonly last?: number | null | undefined; readonly before?: string | null | undefined };

export const ConsentList: TypedDocumentNode<ConsentListData, ConsentListVariables> = /* @__PURE__ */ gql(
  "query ConsentList($first:Int$after:String$last:Int$before:String){viewer{__typename ...on User{id consents(first:$first after:$after last:$last before:$before){nodes{id updatedAt scopes client{...AllowedClient}}pageInfo{hasNextPage hasPreviousPage startCursor endCursor}}}}}fragment AllowedClient on Oauth2Client{id clientId clientName logoUri}",
);

export type RevokeApplicationData = { readonly revokeApplication: { readonly status: 'NOT_FOUND' | 'REVOKED'; readonly endedSessions: number } };

export type RevokeApplicationVariables = { readonly id: string };

export const RevokeApplication: TypedDocumentNode<RevokeApplicationData, RevokeApplicationVariables> = /* @__PURE__ */ gql(
  "mutation RevokeApplication($id:ID!){revokeApplication(input:{applicationId:$id}){status endedSessions}}",
);

export type RevokeConsentData = { readonly revokeConsent: { readonly status: 'NOT_FOUND' | 'REVOKED' } };

export type RevokeConsentVariables = { readonly id: string };

export const RevokeConsent: TypedDocumentNode<RevokeConsentData, RevokeConsentVariables> = /* @__PURE__ */ gql(
  "mutation RevokeConsent($id:ID!){revokeConsent(input:{consentId:$id}){status}}",
);
