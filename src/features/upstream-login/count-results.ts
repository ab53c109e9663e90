/** What sign-ins through providers report to the metrics. */
import { LatchkeyError } from '#platform/base/errors.ts';
import type { UpstreamProviderId } from '#platform/base/ids.ts';
import { UPSTREAM_CALLBACK_RESULTS, type UpstreamLoginResult } from '#platform/base/metric-labels.ts';
import { metrics } from '#platform/base/metrics.ts';
import type { HttpResponse } from '#platform/http/response.ts';

/** How an answer of a provider was taken; undefined: it comes once more. */
export interface TakenAnswer {
  readonly result: 'cancelled' | 'success' | undefined;
  readonly response: HttpResponse;
}

/** Reports how the answer of a provider was taken, which stays as it is. */
export async function countCallback(provider: UpstreamProviderId, taking: Promise<TakenAnswer>): Promise<HttpResponse> {
  const count = (result: string): void => metrics?.count('latchkey_upstream_callback_total', { provider, result });
  try {
    const { result, response } = await taking;
    if (result !== undefined) count(result);
    return response;
  } catch (error) {
    const code = error instanceof LatchkeyError ? error.code : undefined;
    count(UPSTREAM_CALLBACK_RESULTS.find((result) => result === code) ?? 'error');
    throw error;
  }
}

type LoginRefusal = 'deactivated' | 'has-link' | 'locked' | 'no-account' | 'too-many-links' | 'unusable' | 'used';

/** Reports how the last step of a sign-in ended. */
export function countLogin(
  provider: UpstreamProviderId,
  outcome: { readonly ok: true } | { readonly ok: false; readonly reason: LoginRefusal },
): void {
  const result = outcome.ok ? 'success' : refusalResult(outcome.reason);
  metrics?.count('latchkey_upstream_login_total', { provider, result });
}

function refusalResult(reason: LoginRefusal): UpstreamLoginResult {
  return reason === 'locked' || reason === 'deactivated' || reason === 'unusable' ? 'locked' : 'refused';
}
