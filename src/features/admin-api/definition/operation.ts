/** Defines an operation of the API: its route, description and handler. */
import { z } from 'zod';
import { type AdminAction, recordAdminAction, recordedChange } from '#domain/audit/record-admin-action.ts';
import type { Core } from '#domain/core.ts';
import { type ErrorCode, LatchkeyError } from '#platform/base/errors.ts';
import { fromUuid, parseId, type Ulid } from '#platform/base/ids.ts';
import type { JsonRules } from '#platform/http/json-body.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, json, noStore } from '#platform/http/response.ts';
import type { Route } from '#platform/http/route.ts';
import type { Database, Queryable, Transaction } from '#platform/postgres/database.ts';
import type { Chosen, ChosenOrder, Listing } from '#platform/postgres/listing.ts';
import type { Page, PageWindow } from '#platform/postgres/page.ts';
import type { AdminCaller } from './caller.ts';
import { addressOf, document, type Resource, single, tagOf } from './documents.ts';
import { linkQuery, readFilters, readListQuery } from './list-parameters.ts';

export interface AdminCall {
  readonly core: Core;
  readonly context: RequestContext;
  readonly caller: AdminCaller;
  /** URL of the API, as the request addressed it. */
  readonly base: string;
}

/** The success response of an operation. */
export interface TestResponse {
  readonly status: number;
  /** Undefined for a response without a body. */
  readonly schema: z.ZodType | undefined;
  /** Media type of a body that is a file. */
  readonly file?: string;
  readonly description: string;
}

export interface Operation {
  /** `operationId` in the description, and the operation's name in the log. */
  readonly id: string;
  readonly method: Route['method'];
  /** Path below the API: `users/:id`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  /** Details beyond the summary: what else changes, what stays, and what happens later. */
  readonly description: string;
  /** Filters of a list, created by `filter`. */
  readonly filters?: z.ZodObject;
  /** Other query parameters, created by `filter`. Those that are not optional are required. */
  readonly parameters?: z.ZodObject;
  /** Formats of a list as a file, which contains up to `limit` objects. */
  readonly exports?: ListExports;
  /** How a list is paged. Default: from either end, in order of creation. `none`: filters of something else. */
  readonly pages?: 'newest-first' | 'none';
  /** Names of other orders of a list. */
  readonly sorts?: readonly string[];
  readonly body?: z.ZodType;
  /** A body, if the schema is too general to generate one. */
  readonly example?: object;
  readonly answers: readonly TestResponse[];
  readonly errors: readonly ErrorCode[];
  run(call: AdminCall): Promise<HttpResponse>;
}

export interface ListExports {
  readonly limit: number;
  /** Names in `Accept`, each with the beginning of a file. */
  readonly examples: Readonly<Record<string, string>>;
}

/** Where records are read from. */
export interface Source<Item> {
  find(core: Core, id: Ulid): Promise<Item | undefined>;
}

export interface ListSource<Item, Filters> extends Source<Item> {
  page(core: Core, filters: Filters, window: PageWindow, order?: ChosenOrder): Promise<Page<Item>>;
  count(core: Core, filters: Filters): Promise<number>;
}

/** Reads the records of a list as they are stored. */
export function stored<Item extends { readonly id: string }, Filters extends object>(
  listing: Listing<Item, Filters>,
): ListSource<Item, Chosen<Filters>> {
  return {
    find: ({ database }, id) => listing.find(database, id),
    page: ({ database }, filters, window, order) => listing.page(database, filters, window, order),
    count: ({ database }, filters) => listing.count(database, filters),
  };
}

interface GetDefinition<Item extends { readonly id: string }> {
  readonly id: string;
  readonly summary: string;
  readonly description: string;
  readonly resource: Resource<Item>;
  readonly source: Source<Item>;
}

/** `GET /{resource}/{id}` */
export function getOperation<Item extends { readonly id: string }>(definition: GetDefinition<Item>): Operation {
  const { id, summary, description, resource, source } = definition;
  return {
    id,
    method: 'GET',
    path: addressOf(resource, ':id').join('/'),
    tag: tagOf(resource),
    summary,
    description,
    answers: [singleResponse(200, resource)],
    errors: ['invalid_id', 'not_found'],
    run: async (call) => single(200, resource, await findOr404(call, source, resource), call),
  };
}

interface ListDefinition<Item extends { readonly id: string }, Rules extends z.ZodObject, Filters> {
  readonly id: string;
  readonly summary: string;
  readonly description: string;
  readonly resource: Resource<Item>;
  readonly source: ListSource<Item, Filters>;
  readonly filters: Rules;
  /** Names of other orders, which the source supports. */
  readonly sorts?: readonly string[];
  readonly select: (values: z.output<Rules>) => Filters;
  /** Checks that the objects named by filters exist. @throws LatchkeyError `not_found` */
  readonly check?: (call: AdminCall, values: z.output<Rules>) => Promise<void>;
}

/** `GET /{resource}`: takes at most two statements, plus those that check the objects named by filters. */
export function listOperation<Item extends { readonly id: string }, Rules extends z.ZodObject, Filters>(
  definition: ListDefinition<Item, Rules, Filters>,
): Operation {
  const { resource, select, check } = definition;
  return listAt(definition, {
    path: resource.path,
    tag: resource.type,
    errors: check === undefined ? [] : ['not_found'],
    place: async (call, values) => {
      await check?.(call, values);
      return { path: resource.path, selected: select(values) };
    },
  });
}

interface NestedListDefinition<
  Item extends { readonly id: string },
  Rules extends z.ZodObject,
  Filters,
  Parent extends { readonly id: string },
> extends Omit<ListDefinition<Item, Rules, Filters>, 'select' | 'check'> {
  /** The record that the listed ones belong to. */
  readonly parent: { readonly resource: Resource<Parent>; readonly source: Source<Parent> };
  /** Rest of the path after the parent's ID. */
  readonly path: string;
  readonly select: (values: z.output<Rules>, parent: Parent) => Filters;
}

/** `GET /{parent}/{id}/{path}`: like `listOperation`, plus one statement that reads the parent. */
export function nestedListOperation<
  Item extends { readonly id: string },
  Rules extends z.ZodObject,
  Filters,
  Parent extends { readonly id: string },
>(definition: NestedListDefinition<Item, Rules, Filters, Parent>): Operation {
  const { parent, path, select } = definition;
  return listAt(definition, {
    path: `${parent.resource.path}/:id/${path}`,
    tag: parent.resource.type,
    errors: ['invalid_id', 'not_found'],
    place: async (call, values) => {
      const found = await findOr404(call, parent.source, parent.resource);
      const own = [...addressOf(parent.resource, fromUuid(found.id)), path].join('/');
      return { path: own, selected: select(values, found) };
    },
  });
}

interface ListPlace<Values, Filters> {
  readonly path: string;
  readonly tag: string;
  readonly errors: readonly ErrorCode[];
  /** Returns the path of the requested list and the filters of its records. */
  readonly place: (call: AdminCall, values: Values) => Promise<{ readonly path: string; readonly selected: Filters }>;
}

function listAt<Item extends { readonly id: string }, Rules extends z.ZodObject, Filters>(
  definition: Omit<ListDefinition<Item, Rules, Filters>, 'select' | 'check'>,
  { path: pattern, tag, errors, place }: ListPlace<z.output<Rules>, Filters>,
): Operation {
  const { id, summary, description, resource, source, filters, sorts } = definition;
  return {
    id,
    method: 'GET',
    path: pattern,
    tag,
    summary,
    description,
    filters,
    ...(sorts !== undefined && { sorts }),
    answers: [
      { status: 200, schema: listSchema(resource), description: `A page of objects of type \`${resource.type}\`.` },
    ],
    errors: ['invalid_parameter', ...errors],
    run: async (call) => {
      const { core, context, base } = call;
      const { window, count, order, repeated } = readListQuery(context.query, filters, sorts);
      const { path: own, selected } = await place(call, readFilters(context.query, filters));
      const [page, total] = await Promise.all([
        count === 'only' ? undefined : source.page(core, selected, window, order),
        count === 'false' ? undefined : source.count(core, selected),
      ]);
      const path = `${base}/${own}`;
      const link = (parameters: readonly (readonly [string, string])[] = []) => path + linkQuery(repeated, parameters);
      const meta = total === undefined ? undefined : { count: total };
      if (page === undefined) return json(200, { meta, links: { self: link(cursors(window)) } });
      const data = page.items.map((item) => {
        const shown = document(resource, item, call);
        return { ...shown, meta: { page: { cursor: shown.id } } };
      });
      const ends = endsOf(path, repeated, window);
      return json(200, {
        meta,
        data,
        links: { self: link(cursors(window)), ...ends, ...neighbours(link, page, data) },
      });
    },
  };
}

function cursors({ after, before }: PageWindow): (readonly [string, string])[] {
  return [
    ...(after === undefined ? [] : [['page[after]', after] as const]),
    ...(before === undefined ? [] : [['page[before]', before] as const]),
  ];
}

/** Returns the links to the first and last page, with the list's filters and page size. */
function endsOf(path: string, repeated: readonly (readonly [string, string])[], { size }: PageWindow) {
  const kept = repeated.filter(([name]) => !name.startsWith('page['));
  const end = (name: string) => path + linkQuery([...kept, [name, String(size)]]);
  return { first: end('page[first]'), last: end('page[last]') };
}

function neighbours(
  link: (parameters: readonly (readonly [string, string])[]) => string,
  { hasNext, hasPrevious }: Page<unknown>,
  data: readonly { readonly id: string }[],
) {
  const last = data.at(-1);
  const first = data[0];
  return {
    ...(hasNext && last !== undefined && { next: link([['page[after]', last.id]]) }),
    ...(hasPrevious && first !== undefined && { prev: link([['page[before]', first.id]]) }),
  };
}

interface ActionDefinition<Item extends { readonly id: string }> {
  readonly id: string;
  readonly method?: 'POST' | 'PUT' | 'DELETE';
  /** Rest of the path after the record's ID. */
  readonly action?: string;
  readonly summary: string;
  readonly description: string;
  readonly resource: Resource<Item>;
  readonly source: Source<Item>;
  /** Query parameters that `run` reads with `readQuery`, created by `filter`. */
  readonly parameters?: z.ZodObject;
  /** Schema of the body that `run` reads with `readBody`. Undefined if a body is ignored. */
  readonly body?: z.ZodType;
  readonly errors?: readonly ErrorCode[];
  /** The response has no record, because it is deleted or not shown. */
  readonly isSilent?: boolean;
  /**
   * Changes the record with `change`, which records it as this action. The record's new state is read afterwards.
   */
  readonly run: (call: AdminCall, item: Item, action: AdminAction) => Promise<void>;
}

/** Defines a change of one record, which the response shows. */
export function actionOperation<Item extends { readonly id: string }>(definition: ActionDefinition<Item>): Operation {
  const { id, method = 'POST', action, summary, description, resource, source, body, parameters } = definition;
  const { errors = [], isSilent = false } = definition;
  return {
    id,
    method,
    path: [...addressOf(resource, ':id'), ...(action === undefined ? [] : [action])].join('/'),
    tag: tagOf(resource),
    summary,
    description,
    ...(parameters !== undefined && { parameters }),
    ...(body !== undefined && { body }),
    answers: [isSilent ? NOTHING : singleResponse(200, resource)],
    errors: ['invalid_id', 'not_found', ...errors],
    run: async (call) => {
      const { core, context } = call;
      const target = idOfPath(context);
      const item = await findOr404(call, source, resource);
      const account = resource.accountOf?.(item) ?? undefined;
      const userId = account === undefined ? undefined : fromUuid<'user'>(account);
      await definition.run(call, item, { operation: id, target: { type: resource.type, id: target, userId } });
      logAction(call, id, target);
      if (isSilent) return { status: 204, headers: noStore };
      const changed = (await source.find(core, target)) ?? item;
      return single(200, resource, changed, { ...call, action });
    },
  };
}

/**
 * Runs a change in one transaction with its event, so that neither exists without the other. Throw to roll back.
 * @param action of the event, or of one event for each record; a function if it depends on the result
 * @param work receives the transaction, and the services with the transaction as their database
 */
export async function change<T>(
  call: AdminCall,
  action: AdminAction | ((done: T) => AdminAction | readonly AdminAction[]),
  work: (core: JoinedCore, transaction: Transaction) => Promise<T>,
): Promise<T> {
  const { core } = call;
  return await recordedChange(
    core.database,
    async (transaction, done) => {
      const actions = [typeof action === 'function' ? action(done) : action].flat();
      for (const one of actions) await record(call, one, transaction);
    },
    (transaction, joined) => work({ ...core, database: joined }, transaction),
  );
}

/** The services, with a transaction as their database. */
export type JoinedCore = Omit<Core, 'database'> & { readonly database: Database };

/** Records a change in its transaction. For operations that do something before or after it, such as a hash. */
export async function record(
  { core, context, caller }: AdminCall,
  action: AdminAction,
  transaction: Queryable,
): Promise<void> {
  const { clientAddress: address, userAgent, task } = context;
  const { clientId, user } = caller;
  const source = { actor: 'admin', userId: user?.id, clientId, requestId: task.id, address, userAgent } as const;
  await recordAdminAction(transaction, source, action, core.clock.now());
}

/** Logs one line per change: the administrator, the operation and the record (operations 4.1). */
export function logAction({ core, caller }: AdminCall, operation: string, target: string): void {
  const { clientId: client, user } = caller;
  core.log.info('admin.action', 'admin API change', {
    operation,
    target,
    ...(client !== undefined && { client }),
    ...(user !== undefined && { admin: user.id }),
  });
}

/** @throws LatchkeyError `invalid_body`, and the errors of `readJson` */
export async function readBody<Body extends z.ZodType>(
  context: RequestContext,
  body: Body,
  rules: Pick<JsonRules, 'maxMembers'> = {},
): Promise<z.output<Body>> {
  const optional = body.safeParse({}).success;
  const isMergePatch = context.method === 'PATCH';
  const value = optional
    ? await context.readOptionalJson({ isMergePatch })
    : await context.readJson({ ...rules, isMergePatch });
  const read = body.safeParse(value === undefined ? {} : value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const keys = issue?.code === 'unrecognized_keys' ? issue.keys : [];
  const path = [...(issue?.path ?? []), ...keys.slice(0, 1)];
  throw invalidMember(path, keys.length > 0 ? 'unknown member' : (issue?.message ?? 'cannot be parsed'));
}

/** @param path of the invalid member in the body; @param problem what is wrong with its value */
export function invalidMember(path: readonly PropertyKey[], problem: string): LatchkeyError {
  const pointer = pointerOf(path);
  return new LatchkeyError('invalid_body', { description: `${pointer}: ${problem}`, members: { pointer } });
}

/** Returns the JSON pointer of a member (RFC 6901). */
export function pointerOf(path: readonly PropertyKey[]): string {
  return ['', ...path.map(String)].map(escaped).join('/');
}

/** RFC 6901 3. */
function escaped(segment: string): string {
  return segment.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Parses the identifier in the path. @throws LatchkeyError `invalid_id` */
export function idOfPath<Kind extends string>({ params }: RequestContext): Ulid<Kind> {
  const id = parseId<Kind>(params['id'] ?? '');
  if (id === undefined) throw new LatchkeyError('invalid_id');
  return id;
}

async function findOr404<Item extends { readonly id: string }>(
  { core, context }: AdminCall,
  source: Source<Item>,
  { type, part }: Resource<Item>,
): Promise<Item> {
  const item = await source.find(core, idOfPath(context));
  if (item === undefined) throw missing(part?.of ?? type);
  return item;
}

/** @param type kind of the missing record; @param by what identifies it */
export function missing(type: string, by = 'id'): LatchkeyError {
  return new LatchkeyError('not_found', { description: `no ${type} with this ${by}` });
}

const NOTHING: TestResponse = { status: 204, schema: undefined, description: 'Success; the response has no body.' };

const self = (of: string) => z.string().describe(`Path of ${of}.`);

function resourceSchema<Item extends { readonly id: string }>({ type, description, attributes }: Resource<Item>) {
  return z
    .object({
      type: z.literal(type).describe('Type of the object.'),
      id: z.string().describe('Identifier (ULID); for objects that exist once per account, the ID of the account.'),
      attributes: attributes.describe('Attributes of the object.'),
      links: z.object({ self: self('the object') }).describe('Links of the object.'),
    })
    .describe(description);
}

/** @param description of the response with this status, if there is more to say than which record it is */
export function singleResponse<Item extends { readonly id: string }>(
  status: number,
  resource: Resource<Item>,
  description = `The current object of type \`${resource.type}\`.`,
  meta?: z.ZodType,
): TestResponse {
  const links = z.object({ self: self('this response') }).describe('Links of the response.');
  const members = { data: resourceSchema(resource), links, ...(meta !== undefined && { meta }) };
  return { status, schema: z.object(members), description };
}

/** Schema of a page of a list that starts with the newest item. */
export function newestFirstSchema<Item extends { readonly id: string }>(resource: Resource<Item>) {
  return z.object({
    meta: z
      .object({
        count: z.int().describe('Number of objects that match the filters, on all pages.'),
        count_is_capped: z.boolean().describe('Whether there may be more objects than `count`.'),
      })
      .optional()
      .describe('Only with `count=true` or `count=only`.'),
    data: z.array(resourceSchema(resource)).optional().describe('Objects on this page; omitted with `count=only`.'),
    links: z
      .object({
        self: self('this page'),
        first: self('the first page').optional(),
        next: self('the next page, with older objects; omitted on the last page').optional(),
      })
      .describe('Pagination links. With `count=only`, just `self`.'),
  });
}

function listSchema<Item extends { readonly id: string }>(resource: Resource<Item>) {
  const cursor = z.string().describe('Cursor for `page[after]` and `page[before]`.');
  const listed = resourceSchema(resource)
    .extend({
      meta: z
        .object({ page: z.object({ cursor }).describe('Position in the list.') })
        .describe('Metadata of the item in this list.'),
    })
    .describe(resource.description);
  return z.object({
    meta: z
      .object({ count: z.int().describe('Number of objects that match the filters, on all pages.') })
      .optional()
      .describe('Omitted with `count=false`.'),
    data: z.array(listed).optional().describe('Objects on this page; omitted with `count=only`.'),
    links: z
      .object({
        self: self('this page'),
        first: self('the first page').optional(),
        last: self('the last page').optional(),
        next: self('the next page; omitted on the last page').optional(),
        prev: self('the previous page; omitted on the first page').optional(),
      })
      .describe('Pagination links. With `count=only`, just `self`.'),
  });
}
