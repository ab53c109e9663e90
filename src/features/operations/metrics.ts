import { LatchkeyError } from '#platform/base/errors.ts';
import type { MetricsPage } from '#platform/base/metrics.ts';
import { outside } from '#platform/base/tasks.ts';
import { prefersMediaType } from '#platform/http/accept.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, noStore } from '#platform/http/response.ts';

/** Returns all metrics in Prometheus format, or in OpenMetrics format if requested (operations 7.2). */
export async function handleMetrics({ headers }: RequestContext, page: MetricsPage | undefined): Promise<HttpResponse> {
  // The configuration mounts this route only if metrics are enabled.
  if (page === undefined) throw new LatchkeyError('not_found');
  const isOpen = prefersMediaType(headers.accept, 'application/openmetrics-text', 'text/plain');
  const { type, text } = await outside(page.render(isOpen ? 'openmetrics' : 'prometheus'));
  return { status: 200, headers: { 'content-type': type, ...noStore, vary: 'Accept' }, body: text };
}
