import type { z } from 'zod';
import type { Environment } from '#platform/config/dot-env.ts';
import { choice, list, mapping, portion } from '#platform/config/values.ts';
import { PROPAGATORS } from '#platform/tracing/propagation.ts';
import { otlpEndpoint, otlpTarget } from './otlp.ts';

export const tracingSection = mapping({
  exporter: choice(['none', 'stdout', 'otlp'])
    .prefault('none')
    .describe(
      'Trace exporter. `otlp`: a collector, as JSON over HTTP; `stdout`: the same documents, one per line. ' +
        'Unless it is `none`, every log line contains the trace ID of its request, sampled or not.',
    ),
  endpoint: otlpEndpoint('traces'),
  propagators: list(choice(PROPAGATORS))
    .prefault(['tracecontext'])
    .describe(
      'Formats of trace headers, read from requests and sent to the homeserver and to sign-in providers: ' +
        '`traceparent` and `tracestate`, `baggage`, `uber-trace-id`. `[]`: every trace starts here, in the ' +
        'log as well.',
    ),
  accept_parent: choice(['trusted_proxies', 'everyone'])
    .prefault('trusted_proxies')
    .describe(
      'Clients whose trace headers are read: those in `http.trusted_proxies`, or all clients, which can ' +
        'then control sampling and choose the trace IDs in the log.',
    ),
  sample_rate: portion()
    .prefault(1)
    .describe('Fraction of traces started here that are exported. For other traces, the `traceparent` header decides.'),
});

/** @param environment OpenTelemetry variables, used for what the section does not set */
export function tracingConfig(parsed: z.output<typeof tracingSection>, environment: Environment) {
  return {
    exporter: parsed.exporter,
    propagators: parsed.propagators,
    acceptParent: parsed.accept_parent,
    sampleRate: parsed.sample_rate,
    ...otlpTarget('traces', parsed.endpoint, environment),
  };
}
