import { z } from 'zod';
import { hint } from '#platform/config/shape.ts';
import {
  type CompileOptions,
  compileTemplate,
  type Template,
  TemplateSyntaxError,
} from '#platform/templates/template.ts';

/** Variables available to claim templates. */
export const CLAIM_VARIABLES = ['user', 'id_token_claims', 'userinfo_claims', 'extra_callback_parameters'] as const;
/** Variables available to parameter templates. */
const PARAMETER_VARIABLES = ['params', 'logged_out'] as const;

const MAX_PARAMETERS = 20;
/** Parameters of an authorization request to a provider, and parameters that would override them. */
const RESERVED: ReadonlySet<string> = new Set([
  ...['response_type', 'client_id', 'redirect_uri', 'scope', 'state', 'nonce', 'response_mode'],
  ...['code_challenge', 'code_challenge_method', 'request', 'request_uri'],
]);

/** A template (docs/reference/claim-templates.md), compiled when the configuration is loaded. */
export function template(variables: readonly string[], bounds: Pick<CompileOptions, 'maxOutputBytes'> = {}) {
  const error = 'expected a template';
  const schema = z.string({ error }).transform((source, context): Template => {
    try {
      return compileTemplate(source, { ...bounds, variables });
    } catch (cause) {
      if (!(cause instanceof TemplateSyntaxError)) throw cause;
      context.addIssue(`${error} (${cause.message})`);
      return z.NEVER;
    }
  });
  return hint(schema, { type: '[template](claim-templates.md)' });
}

/** Templates by parameter name, as a mapping or as JSON text from the environment. */
export function parameterTemplates() {
  const error = 'expected a mapping of parameter names to templates';
  const schema = z
    .unknown()
    .transform((value) => (typeof value === 'string' ? fromJson(value) : value))
    .pipe(
      z
        .record(
          z.string().regex(/^[A-Za-z0-9._-]{1,64}$/, { error: 'expected a name of letters, digits, ".", "_" and "-"' }),
          template(PARAMETER_VARIABLES),
          { error: (issue) => (issue.code === 'invalid_key' ? issue.issues[0]?.message : error) },
        )
        .superRefine((templates, context) => {
          const names = Object.keys(templates);
          if (names.length > MAX_PARAMETERS) context.addIssue(`has more than ${MAX_PARAMETERS} parameters`);
          for (const name of names.filter((one) => RESERVED.has(one))) {
            context.addIssue({ code: 'custom', path: [name], message: 'is set by the sign-in itself' });
          }
        }),
    );
  return hint(schema, { type: 'mapping of names to [templates](claim-templates.md)' });
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
