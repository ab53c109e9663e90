/** What answers requests to `/graphql`. Loaded once the service has started, or with the first of them: it takes time. */
import {
  execute,
  GraphQLError,
  type GraphQLFormattedError,
  getVariableValues,
  type OperationDefinitionNode,
} from 'graphql';
import { ERRORS, LatchkeyError } from '#platform/base/errors.ts';
import { describeError } from '#platform/base/log.ts';
import { logError } from '#platform/http/error-log.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import { complexityOf } from './complexity.ts';
import { AccountContext } from './context/account-context.ts';
import { type Caller, type CallerDeps, identifyCaller } from './context/caller.ts';
import { Deadline, limitFieldsByDeadline } from './context/deadline.ts';
import { refusal } from './context/graphql-refusal.ts';
import { TimelyDatabase } from './context/timely-database.ts';
import { isCrossSite } from './cross-site.ts';
import { Documents, MAX_ERRORS, type ParsedDocument } from './documents.ts';
import { graphqlCode } from './error-format.ts';
import type { Payload } from './payload.ts';
import { acceptsGraphqlType, graphqlResponse } from './response.ts';
import { buildAccountSchema } from './schema/schema.ts';
import { loggedOperation, selectedOperation } from './selected-operation.ts';

/** Of a mutation sent by GET. */
const POST_ONLY = { allow: 'POST' };

export class GraphqlEndpoint {
  readonly #deps: CallerDeps;
  readonly #schema = buildAccountSchema();
  readonly #documents: Documents;

  constructor(deps: CallerDeps) {
    this.#deps = deps;
    limitFieldsByDeadline(this.#schema);
    this.#documents = new Documents(this.#schema, deps.core.config.graphql);
  }

  /**
   * Answers one request: its operation is named in the log first, so that refused ones are too; then who asks is
   * settled; then the document is judged; then it runs (account-graphql 1.4, 1.8).
   */
  async answer(context: RequestContext, payload: Payload): Promise<HttpResponse> {
    const parsed = this.#documents.read(payload.document);
    const operation =
      parsed instanceof GraphQLError ? undefined : selectedOperation(parsed.document, payload.operationName);
    if (operation !== undefined) context.setGraphqlOperation(loggedOperation(operation));
    const isMutation = operation?.operation === 'mutation';
    if (isMutation && context.method === 'GET') {
      throw new LatchkeyError('method_not_allowed', { description: 'mutations are sent by POST', headers: POST_ONLY });
    }
    const { origin } = this.#deps.browser.urls;
    const isForeign = context.headers.authorization === undefined && isCrossSite(context, origin);
    if (isForeign && isMutation) {
      this.#deps.core.log.info('auth.refused', 'a mutation from another site was not accepted', {
        code: 'cross_site_request',
        expected: origin,
      });
      throw new LatchkeyError('cross_site_request');
    }
    const caller = await identifyCaller(this.#deps, context, isForeign);
    if (parsed instanceof GraphQLError) return this.#refuse(context, [parsed]);
    const problems = parsed.problems();
    if (problems.length > 0) return this.#refuse(context, problems);
    if (operation === undefined) {
      return this.#refuse(context, [refusal('OPERATION_RESOLUTION_FAILURE', 'operationName names no operation')]);
    }
    return await this.#run(context, caller, parsed, operation, payload);
  }

  async #run(
    context: RequestContext,
    caller: Caller,
    { document }: ParsedDocument,
    operation: OperationDefinitionNode,
    payload: Payload,
  ): Promise<HttpResponse> {
    const excess = this.#judgeVariables(document, operation, payload);
    if (excess.length > 0) return this.#refuse(context, excess);
    const { core: shared } = this.#deps;
    const deadline = new Deadline(shared.config.graphql.timeoutSeconds);
    const isMutation = operation.operation === 'mutation';
    const core = isMutation ? { ...shared, database: new TimelyDatabase(shared.database, deadline) } : shared;
    try {
      const { data, errors = [] } = await execute({
        schema: this.#schema,
        document,
        operationName: operation.name?.value ?? null,
        variableValues: payload.variables,
        contextValue: new AccountContext({ ...this.#deps, core, request: context, caller, deadline }),
      });
      const body = errors.length === 0 ? { data } : { errors: this.#format(context, errors), data };
      return graphqlResponse(200, body, context.headers.accept);
    } finally {
      deadline.clear();
    }
  }

  /** What is wrong with the variables, and with what the operation costs by them. */
  #judgeVariables(
    document: ParsedDocument['document'],
    operation: OperationDefinitionNode,
    { variables: sent }: Payload,
  ): readonly GraphQLError[] {
    const { hasIntrospection, maxComplexity } = this.#deps.core.config.graphql;
    const { errors, coerced } = getVariableValues(this.#schema, operation.variableDefinitions ?? [], sent, {
      maxErrors: MAX_ERRORS,
      hideSuggestions: !hasIntrospection,
    });
    if (errors !== undefined) return errors.map(({ message }) => refusal('BAD_USER_INPUT', message));
    try {
      const complexity = complexityOf({ schema: this.#schema, document, operation, variables: coerced });
      if (complexity <= maxComplexity) return [];
      return [
        refusal('QUERY_TOO_COMPLEX', `the operation costs ${complexity}, and at most ${maxComplexity} is allowed`),
      ];
    } catch (error) {
      if (error instanceof GraphQLError) return [error];
      throw error;
    }
  }

  /** Nothing was run. Under the media type of GraphQL over HTTP that is an error of the request. */
  #refuse(context: RequestContext, errors: readonly GraphQLError[]): HttpResponse {
    const { accept } = context.headers;
    const body = { errors: this.#format(context, errors) };
    return graphqlResponse(acceptsGraphqlType(accept) ? 400 : 200, body, accept);
  }

  #format({ task }: RequestContext, errors: readonly GraphQLError[]): GraphQLFormattedError[] {
    return errors.slice(0, MAX_ERRORS).map((error) => {
      const { message, extensions } = this.#publicError(error);
      const { locations, path } = error.toJSON();
      return {
        message,
        ...(locations !== undefined && { locations }),
        ...(path !== undefined && { path }),
        extensions: { ...extensions, requestId: task.id },
      };
    });
  }

  /** What of an error is for others to see: a refusal as it is, and of anything else that it happened. */
  #publicError(error: GraphQLError): { readonly message: string; readonly extensions: Record<string, unknown> } {
    const { log } = this.#deps.core;
    const cause = error.originalError;
    if (error.extensions['code'] !== undefined) return { message: error.message, extensions: error.extensions };
    if (cause instanceof LatchkeyError && cause.code !== 'internal') {
      const message = cause.description ?? ERRORS[cause.code].description ?? cause.code;
      const retryAfter = cause.retryAfterSeconds;
      logError(log, cause);
      return {
        message,
        extensions: { code: graphqlCode(cause.code), ...(retryAfter !== undefined && { retryAfter }) },
      };
    }
    const { message, stack } = describeError(cause ?? error);
    log.error('error', message, { stack });
    return { message: 'Internal server error', extensions: { code: 'INTERNAL' } };
  }
}
