import { LatchkeyError } from '#platform/base/errors.ts';
import { bankCurrentStretch, type Task } from '#platform/base/tasks.ts';
import { decodeReceived, escapeText } from '#platform/log/escaping.ts';
import type { GraphqlOperation, Requester } from '#platform/log/request-line.ts';
import { type ClientSource, findClient, type TrustedProxies } from './client-address.ts';
import type { PendingRequest, RequestConnection } from './connection.ts';
import { type ConnectionInfo, describeConnection } from './connection-info.ts';
import type { CookieJar, Cookies } from './cookies.ts';
import type { ErrorFormats } from './error-format.ts';
import { FormParameters } from './form-parameters.ts';
import type { HttpOptions } from './http-options.ts';
import { isChatJsonType, isJsonType, isMergePatchType, type JsonRules, parseJson } from './json-body.ts';
import type { OutgoingResponse, ReceivedRequest } from './message.ts';
import type { CountedRequest, InFlight } from './overload.ts';
import { isFormType, parseForm, RequestBody, requirePageForm } from './request-body.ts';
import type { RequestContext } from './request-context.ts';
import { countedMethod, isAuthorizationRepeated, loggedMethod, splitTarget } from './request-head.ts';
import type { ErrorFormat, Route } from './route.ts';
import type { RouteTable } from './route-table.ts';
import type { UntrustedProxies } from './untrusted-proxies.ts';
import type { AddressRequest, Payer, WorkBudget } from './work-budget.ts';

/** Settings shared by all requests of a server. */
export interface ExchangeSettings {
  readonly cookies: Cookies;
  readonly errorFormats: ErrorFormats;
  readonly proxies: TrustedProxies;
  readonly untrustedProxies: UntrustedProxies;
  readonly clientIpHeader: HttpOptions['clientIpHeader'];
  readonly maxFormBytes: number;
  readonly maxJsonBytes: number;
  readonly maxAdminBytes: number;
  readonly handlerTimeoutMs: number;
  readonly inFlight: InFlight;
  readonly work: WorkBudget;
}

export interface ExchangeParts {
  readonly settings: ExchangeSettings;
  readonly table: RouteTable;
  readonly task: Task;
  readonly request: ReceivedRequest;
  readonly response: OutgoingResponse;
  readonly connection: RequestConnection;
  /** The client waits for `100 Continue` before it sends the body. */
  readonly expectsContinue: boolean;
  start(exchange: Exchange): void;
}

const MAX_USER_AGENT_CHARACTERS = 512;

/** A request and its response: the server's state for it, and the context that handlers receive. */
export class Exchange implements RequestContext, PendingRequest, CountedRequest, AddressRequest {
  readonly task: Task;
  readonly request: ReceivedRequest;
  readonly response: OutgoingResponse;
  readonly connection: RequestConnection;
  readonly table: RouteTable;
  readonly body: RequestBody;
  /** Path of the target as received, including the listener's prefix. */
  readonly path: string;
  readonly rawQuery: string;
  route: Route | undefined;
  params: Readonly<Record<string, string>> = {};
  /** How errors are rendered. Replaced by the route's format once the route is known. */
  errorFormat: ErrorFormat = 'page';
  requester: Requester | undefined;
  /** Size of the response body in bytes. */
  sentBytes = 0;
  graphqlOperation: GraphqlOperation | undefined;
  isAnswered = false;
  isInFlight = false;
  capacity: CountedRequest['capacity'];
  turnKey: string | undefined;
  /** The handler's deadline in terms of `performance.now()`. Time spent receiving the body does not count. */
  deadline = Number.POSITIVE_INFINITY;
  readonly #settings: ExchangeSettings;
  readonly #start: (exchange: Exchange) => void;
  readonly #expectsContinue: boolean;
  #query: FormParameters | undefined;
  #cookies: CookieJar | undefined;
  #form: Promise<FormParameters> | undefined;
  #client: ClientSource | undefined;
  #abort: AbortController | undefined;
  #payer: Payer | undefined;
  /** It has waited for its turn, or does not need to. */
  #hasTurn = false;

  constructor(parts: ExchangeParts) {
    const { path, query } = splitTarget(parts.request.url ?? '/');
    this.task = parts.task;
    this.request = parts.request;
    this.response = parts.response;
    this.connection = parts.connection;
    this.table = parts.table;
    this.path = path;
    this.rawQuery = query;
    this.body = new RequestBody(parts.request, parts.task);
    this.#settings = parts.settings;
    this.#start = parts.start;
    this.#expectsContinue = parts.expectsContinue;
  }

  start(): void {
    this.#start(this);
  }

  get isReceived(): boolean {
    return this.request.complete;
  }

  get isBodyUndeclared(): boolean {
    const { headers, method } = this.request;
    const isDeclared = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
    return method === 'POST' && !isDeclared;
  }

  get mayHaveBody(): boolean {
    const { headers } = this.request;
    const length = headers['content-length'] ?? '0';
    return this.isBodyUndeclared || length !== '0' || headers['transfer-encoding'] !== undefined;
  }

  get isSent(): boolean {
    // When Node has detached the socket from the response, the next response can use it.
    return this.response.writableFinished && this.response.socket === null;
  }

  /** The client is gone and cannot read the response. */
  get isAborted(): boolean {
    const { isMultiplexed, socket } = this.connection;
    return socket.destroyed || (isMultiplexed && this.response.closed);
  }

  onceSent(callback: () => void): void {
    this.response.once('finish', callback);
  }

  failBody(failure: LatchkeyError): void {
    this.body.fail(failure);
  }

  get loggedMethod(): string {
    return loggedMethod(this.request.method ?? '');
  }

  get countedMethod(): string {
    return countedMethod(this.request.method ?? '');
  }

  get method(): string {
    const { method = '' } = this.request;
    return method === 'HEAD' ? 'GET' : method;
  }

  get headers(): ReceivedRequest['headers'] {
    return this.request.headers;
  }

  get isAuthorizationRepeated(): boolean {
    return isAuthorizationRepeated(this.request);
  }

  get prefix(): string {
    return this.table.prefix;
  }

  get query(): FormParameters {
    if (this.#query !== undefined) return this.#query;
    const parsed = FormParameters.parse(this.rawQuery);
    if (parsed === undefined) {
      throw new LatchkeyError('malformed_request', { description: 'the query cannot be decoded' });
    }
    this.#query = parsed;
    return parsed;
  }

  get cookies(): CookieJar {
    this.#cookies ??= this.#settings.cookies.jar(this.request.headers.cookie);
    return this.#cookies;
  }

  /** `Set-Cookie` values for the response. */
  get cookieChanges(): readonly string[] {
    return this.#cookies?.changes() ?? [];
  }

  get clientAddress(): string | undefined {
    return this.#clientSource.address;
  }

  get #clientSource(): ClientSource {
    if (this.#client !== undefined) return this.#client;
    const { clientIpHeader, proxies, untrustedProxies } = this.#settings;
    const { peer } = this.connection;
    const header = this.#forwardingHeader;
    this.#client = findClient(peer, clientIpHeader, header, proxies);
    if (!peer.isTrusted && peer.address !== undefined && header !== undefined)
      untrustedProxies.report(peer.address, clientIpHeader);
    return this.#client;
  }

  get #forwardingHeader(): string | undefined {
    const { clientIpHeader } = this.#settings;
    if (clientIpHeader === 'none') return undefined;
    const header = this.request.headers[clientIpHeader];
    return Array.isArray(header) ? header.join(',') : header;
  }

  get connectionInfo(): ConnectionInfo {
    const { connection, request, table } = this;
    return {
      ...describeConnection(connection),
      listener: table.listener,
      httpVersion: request.httpVersion,
      forwarding: { header: this.#settings.clientIpHeader, received: this.#forwardingHeader },
      client: this.#clientSource,
    };
  }

  get userAgent(): string | undefined {
    const received = this.request.headers['user-agent'];
    if (received === undefined) return undefined;
    return escapeText(decodeReceived(received, MAX_USER_AGENT_CHARACTERS - 1));
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      const abort = new AbortController();
      if (this.isAborted || this.response.closed) abort.abort();
      else this.response.once('close', () => abort.abort());
      this.#abort = abort;
    }
    return this.#abort.signal;
  }

  /** Starts the handler's time limit. */
  startTimeLimit(): void {
    const own = (this.route?.timeLimitSeconds ?? 0) * 1000;
    this.deadline = performance.now() + Math.max(this.#settings.handlerTimeoutMs, own);
  }

  /** Extends the handler's time limit, and that of the client for sending the body. */
  extendDeadlines(byMs: number): void {
    this.deadline += byMs;
    this.body.extendDeadline(byMs);
  }

  beginWrite(): boolean {
    if (this.isAnswered || this.signal.aborted) return false;
    this.deadline = Number.POSITIVE_INFINITY;
    return true;
  }

  readForm(): Promise<FormParameters> {
    this.#form ??= this.#readForm();
    return this.#form;
  }

  async readJson(rules: JsonRules = {}): Promise<unknown> {
    const body = await this.#readJsonBody(rules);
    await rules.beforeParsing?.();
    return parseJson(body, rules);
  }

  async readOptionalJson(rules: Pick<JsonRules, 'isMergePatch'> = {}): Promise<unknown> {
    // Without a body, the media type is irrelevant.
    if (this.body.announcedBytes === 0) return undefined;
    const body = await this.#readJsonBody(rules);
    return body.length === 0 ? undefined : parseJson(body);
  }

  setRequester(requester: Requester, options: Parameters<RequestContext['setRequester']>[1] = {}): void {
    if (this.requester !== undefined && options.replace !== true) return;
    this.requester = requester;
    if (options.isClaimed !== true) this.#payer = this.#payerOf(requester);
  }

  /** Administrators and homeservers are not charged: their requests must always be served. */
  #payerOf(requester: Requester): Payer {
    if (requester.kind === 'homeserver' || this.errorFormat === 'admin-json') return 'free';
    return requester.kind === 'user' ? 'account' : 'client';
  }

  /** Id of the payer, or the client address if there is none. */
  get #payerId(): string | undefined {
    const { requester } = this;
    if (this.#payer === undefined || requester === undefined) return this.clientAddress;
    return requester.kind === 'homeserver' ? undefined : requester.id;
  }

  get credentials(): string | undefined {
    const { authorization, cookie } = this.request.headers;
    return authorization ?? cookie;
  }

  get isOfMachine(): boolean {
    if (this.request.headers.authorization !== undefined) return true;
    // A client's credentials may be in the body.
    const { errorFormat, method } = this.route ?? {};
    return method === 'POST' && (errorFormat === 'oauth-json' || errorFormat === 'chat-json');
  }

  get mayBeProven(): boolean {
    return this.isOfMachine || this.credentials !== undefined;
  }

  /** Health checks are answered regardless of other requests from the same address. */
  get #isAlwaysServed(): boolean {
    return this.route?.capacity === 'essential' && this.route.method === 'GET';
  }

  /** @throws WorkUsedUp if unauthenticated requests have used up the address's budget */
  requireAddress(): void {
    if (!this.#isAlwaysServed) this.#settings.work.requireAddress(this);
  }

  /**
   * Call when the request has been received completely.
   * @returns undefined if it can continue immediately, else a promise that resolves when it is its turn
   */
  takeTurn(): Promise<void> | undefined {
    if (this.#hasTurn || this.#isAlwaysServed) return undefined;
    this.#hasTurn = true;
    const turn = this.#settings.work.takeTurn(this);
    return turn === undefined ? undefined : this.#awaitTurn(turn);
  }

  async #awaitTurn(turn: Promise<void>): Promise<void> {
    const { inFlight } = this.#settings;
    inFlight.leave(this);
    await turn;
    if (this.isAborted || this.isAnswered) throw new LatchkeyError('temporarily_unavailable');
    this.requireAddress();
    inFlight.enter(this);
    this.startTimeLimit();
  }

  requireWork(): void {
    const id = this.#payerId;
    if (this.#payer !== undefined && id !== undefined) this.#settings.work.requirePayer(this.#payer, id);
  }

  /** Charges the requester for the cost of the request. */
  charge(): void {
    bankCurrentStretch();
    const { work } = this.#settings;
    const { credentials } = this;
    work.charge(this.#payer, this.#payerId, this.task.cpuMs, this.sentBytes);
    work.endTurn(this);
    if (this.#payer !== undefined && credentials !== undefined) work.remember(credentials);
  }

  setGraphqlOperation(operation: GraphqlOperation): void {
    this.graphqlOperation = operation;
  }

  get #maxJsonBytes(): number {
    return this.errorFormat === 'admin-json' ? this.#settings.maxAdminBytes : this.#settings.maxJsonBytes;
  }

  async #readJsonBody({ maxBytes = this.#maxJsonBytes, isMergePatch = false }: JsonRules): Promise<Buffer> {
    const type = this.request.headers['content-type'];
    const isJson = this.errorFormat === 'chat-json' ? isChatJsonType(type) : isJsonType(type);
    if (!isJson && !(isMergePatch && isMergePatchType(type))) {
      throw new LatchkeyError(this.#settings.errorFormats[this.errorFormat].wrongBodyType, {
        description: `Content-Type must be application/json${isMergePatch ? ' or application/merge-patch+json' : ''}`,
      });
    }
    return await this.#readBody(maxBytes);
  }

  async #readForm(): Promise<FormParameters> {
    const { errorFormat = 'page', formRules } = this.route ?? {};
    if (!isFormType(this.request.headers['content-type'])) {
      throw new LatchkeyError(this.#settings.errorFormats[errorFormat].wrongBodyType, {
        description: 'Content-Type must be application/x-www-form-urlencoded',
      });
    }
    const form = parseForm(await this.#readBody(this.#settings.maxFormBytes));
    if ((formRules ?? (errorFormat === 'page' ? 'page' : 'protocol')) === 'page') requirePageForm(form);
    return form;
  }

  async #readBody(maxBytes: number): Promise<Buffer> {
    const reading = this.body.read(maxBytes);
    if (this.#expectsContinue) this.response.writeContinue();
    this.deadline = Number.POSITIVE_INFINITY;
    this.#settings.inFlight.leave(this);
    const bytes = await reading;
    this.#settings.inFlight.enter(this);
    this.startTimeLimit();
    const turn = this.takeTurn();
    if (turn !== undefined) await turn;
    return bytes;
  }
}
