// Written by scripts/generate-reference.js from frame.graphql.
import { gql, type TypedDocumentNode } from '@urql/core';

export type CurrentUserGreetingData = { readonly viewer: { readonly __typename: 'Anonymous' } | { readonly __typename: 'User'; readonly id: string; readonly username: string; readonly matrix: { readonly displayName: string | null } }; readonly viewerSession: { readonly __typename: 'Anonymous' | 'Oauth2Session' } | { readonly __typename: 'BrowserSession'; readonly id: string }; readonly siteConfig: { readonly id: string; readonly serverName: string } };

export type CurrentUserGreetingVariables = { readonly [name: string]: never };

export const CurrentUserGreeting: TypedDocumentNode<CurrentUserGreetingData, CurrentUserGreetingVariables> = /* @__PURE__ */ gql(
  "query CurrentUserGreeting{viewer{__typename ...on User{id username matrix{displayName}}}viewerSession{__typename ...on BrowserSession{id}}siteConfig{id serverName}}",
);

export type FooterData = { readonly siteConfig: { readonly id: string; readonly policyUri: string | null; readonly tosUri: string | null; readonly imprint: string | null } };

export type FooterVariables = { readonly [name: string]: never };

export const Footer: TypedDocumentNode<FooterData, FooterVariables> = /* @__PURE__ */ gql(
  "query Footer{siteConfig{id policyUri tosUri imprint}}",
);

export type CurrentViewerData = { readonly viewer: { readonly __typename: 'Anonymous' } | { readonly __typename: 'User'; readonly id: string } };

export type CurrentViewerVariables = { readonly [name: string]: never };

export const CurrentViewer: TypedDocumentNode<CurrentViewerData, CurrentViewerVariables> = /* @__PURE__ */ gql(
  "query CurrentViewer{viewer{__typename ...on User{id}}}",
);
