// Written by scripts/generate-reference.js from device.graphql.
import { gql, type TypedDocumentNode } from '@urql/core';

export type DeviceRedirectData = { readonly viewer: { readonly __typename: 'Anonymous' | 'User' }; readonly session: { readonly __typename: 'CompatSession' | 'Oauth2Session'; readonly id: string } | null };

export type DeviceRedirectVariables = { readonly userId: string; readonly deviceId: string };

export const DeviceRedirect: TypedDocumentNode<DeviceRedirectData, DeviceRedirectVariables> = /* @__PURE__ */ gql(
  "query DeviceRedirect($userId:ID!$deviceId:String!){viewer{__typename}session(userId:$userId deviceId:$deviceId){__typename ...on CompatSession{id}...on Oauth2Session{id}}}",
);
