// Written by scripts/generate-reference.js from plan.graphql.
import { gql, type TypedDocumentNode } from '@urql/core';

export type PlanManagementTabData = { readonly siteConfig: { readonly id: string; readonly planManagementIframeUri: string | null } };

export type PlanManagementTabVariables = { readonly [name: string]: never };

export const PlanManagementTab: TypedDocumentNode<PlanManagementTabData, PlanManagementTabVariables> = /* @__PURE__ */ gql(
  "query PlanManagementTab{siteConfig{id planManagementIframeUri}}",
);
