import type { z } from 'zod';
import type { Environment } from '#platform/config/dot-env.ts';
import { choice, list, mapping, portion } from '#platform/config/values.ts';
import { PROPAGATORS } from '#platform/tracing/propagation.ts';
import { otlpEndpoint, otlpTarget } from './otlp.ts';

export const tracingSection = mapping({
  exporter: choice(['none', 'stdout', 'otlp'])
    .prefault('none')
    .describe(
      'Where spans go. `otlp`: to a collector, by HTTP with JSON; `stdout`: the same documents, one on a line. While it ' +
        'is not `none`, every line of the log names the trace of its request, sampled or not.',
    ),
  endpoint: otlpEndpoint('traces'),
  propagators: list(choice(PROPAGATORS))
    .prefault(['tracecontext'])
    .describe(
      'Headers by which traces come with requests and go on with calls to the homeserver and to sign-in providers: ' +
        '`traceparent` and `tracestate`, `baggage`, `uber-trace-id`. `[]`: every trace begins here, also in the log.',
    ),
  accept_parent: choice(['trusted_proxies', 'everyone'])
    .prefault('trusted_proxies')
    .describe(
      'Whose trace headers are read: those of `http.trusted_proxies`, or those of every client, which can then decide what ' +
        'is sampled and choose trace ids in the log.',
    ),
  sample_rate: portion()
    .prefault(1)
    .describe(
      'Part of the traces that begin here and are exported. Of others their beginner decides, by `traceparent`.',
    ),
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
