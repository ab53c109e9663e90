// Written by scripts/generate-reference.js from one-time-codes.graphql.
import { gql, type TypedDocumentNode } from '@urql/core';

export type TotpStatusData = { readonly viewer: { readonly __typename: 'Anonymous' } | { readonly __typename: 'User'; readonly id: string; readonly username: string; readonly totp: { readonly createdAt: string } | null }; readonly siteConfig: { readonly id: string; readonly totpEnabled: boolean } };

export type TotpStatusVariables = { readonly [name: string]: never };

export const TotpStatus: TypedDocumentNode<TotpStatusData, TotpStatusVariables> = /* @__PURE__ */ gql(
  "query TotpStatus{viewer{__typename ...on User{id username totp{createdAt}}}siteConfig{id totpEnabled}}",
);

export type StartTotpEnrolmentData = { readonly startTotpEnrolment: { readonly status: 'ALREADY_ENROLLED' | 'DISABLED' | 'STARTED'; readonly enrolmentId: string | null; readonly secret: string | null; readonly otpauthUrl: string | null; readonly expiresAt: string | null } };

export type StartTotpEnrolmentVariables = { readonly [name: string]: never };

export const StartTotpEnrolment: TypedDocumentNode<StartTotpEnrolmentData, StartTotpEnrolmentVariables> = /* @__PURE__ */ gql(
  "mutation StartTotpEnrolment{startTotpEnrolment{status enrolmentId secret otpauthUrl expiresAt}}",
);

export type CompleteTotpEnrolmentData = { readonly completeTotpEnrolment: { readonly status: 'ENROLLED' | 'EXPIRED' | 'INVALID_CODE' | 'RATE_LIMITED'; readonly recoveryCodes: readonly (string)[] | null } };

export type CompleteTotpEnrolmentVariables = { readonly enrolmentId: string; readonly code: string };

export const CompleteTotpEnrolment: TypedDocumentNode<CompleteTotpEnrolmentData, CompleteTotpEnrolmentVariables> = /* @__PURE__ */ gql(
  "mutation CompleteTotpEnrolment($enrolmentId:ID!$code:String!){completeTotpEnrolment(input:{enrolmentId:$enrolmentId code:$code}){status recoveryCodes}}",
);

export type RemoveTotpData = { readonly removeTotp: { readonly status: 'NOT_ENROLLED' | 'REMOVED' | 'REQUIRED_BY_POLICY' } };

export type RemoveTotpVariables = { readonly [name: string]: never };

export const RemoveTotp: TypedDocumentNode<RemoveTotpData, RemoveTotpVariables> = /* @__PURE__ */ gql(
  "mutation RemoveTotp{removeTotp{status}}",
);

export type RegenerateRecoveryCodesData = { readonly regenerateRecoveryCodes: { readonly status: 'GENERATED' | 'NOT_ENROLLED'; readonly recoveryCodes: readonly (string)[] | null } };

export type RegenerateRecoveryCodesVariables = { readonly [name: string]: never };

export const RegenerateRecoveryCodes: TypedDocumentNode<RegenerateRecoveryCodesData, RegenerateRecoveryCodesVariables> = /* @__PURE__ */ gql(
  "mutation RegenerateRecoveryCodes{regenerateRecoveryCodes{status recoveryCodes}}",
);
