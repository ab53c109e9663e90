/** Metrics of sign-ins through upstream providers. */
import { LatchkeyError } from '#platform/base/errors.ts';
import { metrics } from '#platform/base/metrics.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import type { UpstreamProviderId } from '#vocabulary/ids.ts';
import { UPSTREAM_CALLBACK_RESULTS, type UpstreamLoginResult } from '#vocabulary/metric-labels.ts';

/** How a provider's response was handled. `result` is undefined if the response will be sent once more. */
export interface TakenResponse {
  readonly result: 'cancelled' | 'success' | undefined;
  readonly response: HttpResponse;
}

/** Counts how a provider's response was handled, and passes the result on unchanged. */
export async function countCallback(
  provider: UpstreamProviderId,
  taking: Promise<TakenResponse>,
): Promise<HttpResponse> {
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

/** Counts how the last step of a sign-in ended. */
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
