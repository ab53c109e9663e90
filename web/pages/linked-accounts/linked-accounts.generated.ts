// Written by scripts/generate-reference.js from linked-accounts.graphql.
import { gql, type TypedDocumentNode } from '@urql/core';

export type LinkedAccountListData = { readonly viewer: { readonly __typename: 'Anonymous' } | { readonly __typename: 'User'; readonly id: string; readonly loginMethods: readonly ('PASSKEY' | 'PASSWORD' | 'UPSTREAM')[]; readonly upstreamOauth2Links: { readonly totalCount: number; readonly nodes: readonly ({ readonly id: string; readonly createdAt: string; readonly lastUsedAt: string | null; readonly humanAccountName: string | null; readonly provider: { readonly id: string; readonly name: string; readonly brandName: string | null; readonly unlinkingAllowed: boolean } })[]; readonly pageInfo: { readonly hasNextPage: boolean; readonly hasPreviousPage: boolean; readonly startCursor: string | null; readonly endCursor: string | null } } } };

export type LinkedAccountListVariables = { readonly first?: number | null | undefined; readonly after?: string | null | undefined; readonly last?: number | null | undefined; readonly before?: string | null | undefined };

export const LinkedAccountList: TypedDocumentNode<LinkedAccountListData, LinkedAccountListVariables> = /* @__PURE__ */ gql(
  "query LinkedAccountList($first:Int$after:String$last:Int$before:String){viewer{__typename ...on User{id loginMethods upstreamOauth2Links(first:$first after:$after last:$last before:$before){totalCount nodes{id createdAt lastUsedAt humanAccountName provider{id name brandName unlinkingAllowed}}pageInfo{hasNextPage hasPreviousPage startCursor endCursor}}}}}",
);

export type LinkableProviderListData = { readonly viewer: { readonly __typename: 'Anonymous' } | { readonly __typename: 'User'; readonly id: string; readonly upstreamOauth2Links: { readonly nodes: readonly ({ readonly id: string; readonly provider: { readonly id: string } })[] } }; readonly upstreamOauth2Providers: { readonly nodes: readonly ({ readonly id: string; readonly name: string; readonly brandName: string | null; readonly linkingAllowed: boolean; readonly linkUrl: string })[] } };

export type LinkableProviderListVariables = { readonly [name: string]: never };

export const LinkableProviderList: TypedDocumentNode<LinkableProviderListData, LinkableProviderListVariables> = /* @__PURE__ */ gql(
  "query LinkableProviderList{viewer{__typename ...on User{id upstreamOauth2Links(first:100){nodes{id provider{id}}}}}upstreamOauth2Providers(first:100){nodes{id name brandName linkingAllowed linkUrl}}}",
);

export type UnlinkUpstreamAccountData = { readonly unlinkUpstreamAccount: { readonly status: 'LAST_LOGIN_METHOD' | 'MANAGED_BY_PROVIDER' | 'NOT_FOUND' | 'UNLINKED' } };

export type UnlinkUpstreamAccountVariables = { readonly id: string };

export const UnlinkUpstreamAccount: TypedDocumentNode<UnlinkUpstreamAccountData, UnlinkUpstreamAccountVariables> = /* @__PURE__ */ gql(
  "mutation UnlinkUpstreamAccount($id:ID!){unlinkUpstreamAccount(input:{linkId:$id}){status}}",
);
