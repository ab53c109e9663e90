// Written by scripts/generate-reference.js from data-export.graphql.
import { gql, type TypedDocumentNode } from '@urql/core';

export type DataExportListData = { readonly viewer: { readonly __typename: 'Anonymous' } | { readonly __typename: 'User'; readonly id: string; readonly dataExports: { readonly nodes: readonly ({ readonly id: string; readonly createdAt: string; readonly state: 'EXPIRED' | 'FAILED' | 'PENDING' | 'READY'; readonly expiresAt: string | null; readonly sizeBytes: number | null; readonly downloadUrl: string | null })[] } } };

export type DataExportListVariables = { readonly [name: string]: never };

export const DataExportList: TypedDocumentNode<DataExportListData, DataExportListVariables> = /* @__PURE__ */ gql(
  "query DataExportList{viewer{__typename ...on User{id dataExports(last:1){nodes{id createdAt state expiresAt sizeBytes downloadUrl}}}}}",
);

export type StartDataExportData = { readonly startDataExport: { readonly status: 'DISABLED' | 'IN_PROGRESS' | 'RATE_LIMITED' | 'STARTED' } };

export type StartDataExportVariables = { readonly [name: string]: never };

export const StartDataExport: TypedDocumentNode<StartDataExportData, StartDataExportVariables> = /* @__PURE__ */ gql(
  "mutation StartDataExport{startDataExport{status}}",
);
