/** The handler of `/graphql`. Because loading takes time, it is loaded after startup or with the first request. */
import { execute, GraphQLError, type GraphQLFormattedError, type OperationDefinitionNode } from 'graphql';
import { LatchkeyError } from '#platform/base/errors.ts';
import { describeError } from '#platform/base/log.ts';
import { logError } from '#platform/http/error-log.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import { ERRORS } from '#vocabulary/errors.ts';
import { complexityOf } from './complexity.ts';
import { AccountContext } from './context/account-context.ts';
import { type Caller, type CallerDeps, identifyCaller } from './context/caller.ts';
import { Deadline, limitFieldsByDeadline } from './context/deadline.ts';
import { refusal } from './context/graphql-refusal.ts';
import { measureFields, ResponseSize } from './context/response-size.ts';
import { TimelyDatabase } from './context/timely-database.ts';
import { isCrossSite } from './cross-site.ts';
import { Documents, MAX_ERRORS, type ParsedDocument } from './documents.ts';
import { graphqlCode } from './error-format.ts';
import { IntrospectionResponses, isIntrospection } from './introspection-responses.ts';
import { type Payload, readGet, readPost } from './payload.ts';
import { acceptsGraphqlType, graphqlResponse, graphqlTextResponse } from './response.ts';
import { buildAccountSchema } from './schema/schema.ts';
import { loggedOperation, selectedOperation } from './selected-operation.ts';
import { coerceVariables } from './variable-errors.ts';

/** Messages of the library repeat names and values from the document. One of them may be as long as the document. */
const MAX_MESSAGE_CHARACTERS = 500;
/** Headers of the response to a mutation sent by GET. */
const POST_ONLY = { allow: 'POST' };

export class GraphqlEndpoint {
  readonly #deps: CallerDeps;
  readonly #schema = buildAccountSchema();
  readonly #documents: Documents;
  readonly #introspections = new IntrospectionResponses();

  constructor(deps: CallerDeps) {
    this.#deps = deps;
    limitFieldsByDeadline(this.#schema);
    measureFields(this.#schema);
    this.#documents = new Documents(this.#schema, deps.core.config.graphql);
  }

  /** @throws LatchkeyError `cross_site_request` if a page of another site may have sent the request */
  async answerGet(context: RequestContext): Promise<HttpResponse> {
    const isForeign = this.#isForeign(context);
    if (isForeign) throw this.#crossSite('cross-site GET query rejected');
    const caller = await identifyCaller(this.#deps, context, isForeign);
    return await this.#answer(context, caller, readGet(context), isForeign);
  }

  async answerPost(context: RequestContext): Promise<HttpResponse> {
    const isForeign = this.#isForeign(context);
    let caller: Caller | undefined;
    const payload = await readPost(context, this.#deps.core, async () => {
      caller = await identifyCaller(this.#deps, context, isForeign);
    });
    if (caller === undefined) throw new Error('the request body was parsed before it was charged');
    return await this.#answer(context, caller, payload, isForeign);
  }

  /** Tests whether the request has no token and may come from a page of another site. */
  #isForeign(context: RequestContext): boolean {
    return context.headers.authorization === undefined && isCrossSite(context, this.#deps.browser.urls.origin);
  }

  #crossSite(message: string): LatchkeyError {
    const { core, browser } = this.#deps;
    core.log.info('auth.refused', message, { code: 'cross_site_request', expected: browser.urls.origin });
    return new LatchkeyError('cross_site_request');
  }

  /**
   * Handles a request whose caller has been charged (account-graphql 1.4, 1.8). The operation is named in the log
   * first, so that rejected operations are logged too. Then the document is validated and the operation is executed.
   */
  async #answer(context: RequestContext, caller: Caller, payload: Payload, isForeign: boolean): Promise<HttpResponse> {
    const parsed = this.#documents.read(payload.document);
    if (parsed instanceof GraphQLError) return this.#refuse(context, [parsed]);
    const operation = selectedOperation(parsed.document, payload.operationName);
    if (operation !== undefined) context.setGraphqlOperation(loggedOperation(operation));
    const isMutation = operation?.operation === 'mutation';
    if (isMutation && context.method === 'GET') {
      throw new LatchkeyError('method_not_allowed', {
        description: 'mutations must be sent with POST',
        headers: POST_ONLY,
      });
    }
    if (isForeign && isMutation) throw this.#crossSite('cross-site mutation rejected');
    const problems = parsed.problems();
    if (problems.length > 0) return this.#refuse(context, problems);
    if (operation === undefined) {
      return this.#refuse(context, [
        refusal('OPERATION_RESOLUTION_FAILURE', 'operationName does not match an operation in the document'),
      ]);
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
    const known = coerceVariables(this.#schema, operation, payload.variables, MAX_ERRORS);
    if (known.errors !== undefined) return this.#refuse(context, known.errors);
    const excess = this.#judgeCost(document, operation, known.coerced);
    if (excess !== undefined) return this.#refuse(context, [excess]);
    const introspection = isIntrospection(operation)
      ? { text: payload.document, operation, variables: known.coerced }
      : undefined;
    const responded = introspection && this.#introspections.find(introspection);
    if (responded !== undefined) return graphqlTextResponse(200, responded, context.headers.accept);
    const { core: shared } = this.#deps;
    const deadline = new Deadline(shared.config.graphql.timeoutSeconds);
    const responseSize = new ResponseSize(caller.kind === 'anonymous');
    const isMutation = operation.operation === 'mutation';
    const core = isMutation ? { ...shared, database: new TimelyDatabase(shared.database, deadline) } : shared;
    try {
      const { data, errors = [] } = await execute({
        schema: this.#schema,
        document,
        operationName: operation.name?.value ?? null,
        variableValues: payload.variables,
        contextValue: new AccountContext({
          ...this.#deps,
          core,
          request: context,
          caller,
          deadline,
          answerSize: responseSize,
        }),
      });
      if (responseSize.isExceeded && !isMutation) return this.#answerTooLarge(context, responseSize);
      const body = errors.length === 0 ? { data } : { errors: this.#format(context, errors), data };
      const text = JSON.stringify(body);
      if (introspection !== undefined && errors.length === 0) this.#introspections.keep(introspection, text);
      return graphqlTextResponse(200, text, context.headers.accept);
    } finally {
      deadline.clear();
    }
  }

  /**
   * Replaces an oversized query result, whose partial data is useless. A mutation's result is kept, because it says
   * what changed.
   */
  #answerTooLarge(context: RequestContext, { refusal: problem }: ResponseSize): HttpResponse {
    const body = { errors: this.#format(context, [problem]), data: null };
    return graphqlResponse(200, body, context.headers.accept);
  }

  /** Returns why an operation is too expensive with its variables. */
  #judgeCost(
    document: ParsedDocument['document'],
    operation: OperationDefinitionNode,
    variables: Readonly<Record<string, unknown>>,
  ): GraphQLError | undefined {
    const { maxComplexity } = this.#deps.core.config.graphql;
    try {
      const complexity = complexityOf({ schema: this.#schema, document, operation, variables });
      if (complexity <= maxComplexity) return undefined;
      return refusal(
        'QUERY_TOO_COMPLEX',
        `the complexity of the operation is ${complexity}; the limit is ${maxComplexity}`,
      );
    } catch (error) {
      if (error instanceof GraphQLError) return error;
      throw error;
    }
  }

  /** The response when nothing was executed. With the media type of GraphQL over HTTP it is a request error. */
  #refuse(context: RequestContext, errors: readonly GraphQLError[]): HttpResponse {
    const { accept } = context.headers;
    const body = { errors: this.#format(context, errors) };
    return graphqlResponse(acceptsGraphqlType(accept) ? 400 : 200, body, accept);
  }

  #format({ task }: RequestContext, errors: readonly GraphQLError[]): GraphQLFormattedError[] {
    return errors.slice(0, MAX_ERRORS).map((error) => {
      const { message: whole, extensions } = this.#publicError(error);
      const message = whole.length > MAX_MESSAGE_CHARACTERS ? `${whole.slice(0, MAX_MESSAGE_CHARACTERS)}…` : whole;
      const { locations, path } = error.toJSON();
      return {
        message,
        ...(locations !== undefined && { locations }),
        ...(path !== undefined && { path }),
        extensions: { ...extensions, requestId: task.id },
      };
    });
  }

  /** Returns the public part of an error: expected errors as they are, anything else as "Internal server error". */
  #publicError(error: GraphQLError): { readonly message: string; readonly extensions: Record<string, unknown> } {
    const { log } = this.#deps.core;
    const cause = error.originalError;
    if (error.extensions['code'] !== undefined) return { message: error.message, extensions: error.extensions };
    if (cause instanceof LatchkeyError && cause.code !== 'internal') {
      const message = cause.description ?? ERRORS[cause.code].description ?? cause.code;
      const retryAfter = cause.retryAfterSeconds;
      logError(log, cause, ERRORS);
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
