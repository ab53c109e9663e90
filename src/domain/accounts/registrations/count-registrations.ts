/** Metrics of registrations. The provider is set if the registration began with an upstream sign-in. */

import { metrics } from '#platform/base/metrics.ts';
import type { UpstreamProviderId } from '#vocabulary/ids.ts';
import type { FlowResult } from '#vocabulary/metric-labels.ts';

type Outcome<Reason> = { readonly ok: true } | { readonly ok: false; readonly reason: Reason };

type StartRefusal =
  | 'captcha-unavailable'
  | 'captcha-unsolved'
  | 'homeserver-unavailable'
  | 'overloaded'
  | 'rate-limited'
  | 'rejected'
  | 'requester-banned';

/** Reasons that end a registration. Registrations with a missing step continue. */
const FINAL = {
  closed: 'refused',
  'email-in-use': 'refused',
  'homeserver-unavailable': 'error',
  'name-taken': 'refused',
  outdated: 'refused',
  'requester-banned': 'refused',
  'upstream-used': 'refused',
} as const satisfies Readonly<Record<string, FlowResult>>;

export function countStart(provider: UpstreamProviderId | undefined, outcome: Outcome<StartRefusal>): void {
  if (metrics !== undefined) count(provider, outcome.ok ? 'started' : startResult(outcome.reason));
}

export function countFinish(provider: UpstreamProviderId | undefined, outcome: Outcome<string>): void {
  if (outcome.ok) count(provider, 'success');
  else if (isFinal(outcome.reason)) count(provider, FINAL[outcome.reason]);
}

function isFinal(reason: string): reason is keyof typeof FINAL {
  return Object.hasOwn(FINAL, reason);
}

function startResult(reason: StartRefusal): FlowResult {
  switch (reason) {
    case 'rejected':
    case 'captcha-unsolved':
      return 'rejected';
    case 'requester-banned':
      return 'refused';
    case 'rate-limited':
      return 'rate_limited';
    default:
      return 'error';
  }
}

function count(provider: UpstreamProviderId | undefined, result: FlowResult): void {
  const method = provider === undefined ? 'password' : 'upstream';
  metrics?.count('latchkey_registrations_total', { method, result });
  if (provider !== undefined) metrics?.count('latchkey_upstream_registration_total', { provider, result });
}
