/** The documents of answers: one resource, or a page of them, with links (operations 4.2). */
import type { z } from 'zod';
import type { Core } from '#domain/core.ts';
import { fromUuid } from '#platform/base/ids.ts';
import { type HttpResponse, json } from '#platform/http/response.ts';

/** What is shown of one kind of records. @template Item a record, whose `id` is a UUID */
export interface Resource<Item extends { readonly id: string }> {
  /** `type` of its documents. */
  readonly type: string;
  /** Segment of its addresses. */
  readonly path: string;
  /** What one is, in a sentence, for the description of the API. */
  readonly description: string;
  /** Of something that every record of another kind has one of: that kind, and the end of its address. */
  readonly part?: { readonly of: string; readonly path: string };
  /** Members of `attributes`, for the description of the API. */
  readonly attributes: z.ZodObject;
  attributesOf(item: Item, core: Core): Readonly<Record<string, unknown>>;
}

/** Segments of the address of a record. @param id itself, or the name of the parameter */
export function addressOf<Item extends { readonly id: string }>({ path, part }: Resource<Item>, id: string): string[] {
  return [path, id, ...(part === undefined ? [] : [part.path])];
}

/** The tag of its operations. */
export function tagOf<Item extends { readonly id: string }>({ type, part }: Resource<Item>): string {
  return part?.of ?? type;
}

/** Where the API is, below the prefix of the listener. */
export const BASE_PATH = '/api/admin/v1';

/** RFC 3339 with microseconds. @param at milliseconds since the epoch */
export function time(at: number): string {
  return new Date(at).toISOString().replace('Z', '000Z');
}

export function timeOrNull(at: number | null): string | null {
  return at === null ? null : time(at);
}

export function idOrNull(uuid: string | null): string | null {
  return uuid === null ? null : fromUuid(uuid);
}

/** What of a request a document depends on. */
interface Shown {
  readonly core: Core;
  /** Address of the API as the request has it. */
  readonly base: string;
}

export function document<Item extends { readonly id: string }>(
  resource: Resource<Item>,
  item: Item,
  { core, base }: Shown,
) {
  const id = fromUuid(item.id);
  return {
    type: resource.type,
    id,
    attributes: resource.attributesOf(item, core),
    links: { self: [base, ...addressOf(resource, id)].join('/') },
  };
}

/** @param action rest of the path of an action, which the outer link names */
export function single<Item extends { readonly id: string }>(
  status: number,
  resource: Resource<Item>,
  item: Item,
  { action, ...shown }: Shown & { readonly action?: string | undefined },
): HttpResponse {
  const data = document(resource, item, shown);
  const self = action === undefined ? data.links.self : `${data.links.self}/${action}`;
  return json(status, { data, links: { self } });
}
