/** Response documents: one resource, or a page of resources, with links (operations 4.2). */
import type { z } from 'zod';
import type { Core } from '#domain/core.ts';
import { fromUuid } from '#platform/base/ids.ts';
import { type HttpResponse, json } from '#platform/http/response.ts';

/** How one kind of record is represented. @template Item a record, whose `id` is a UUID */
export interface Resource<Item extends { readonly id: string }> {
  /** `type` of its documents. */
  readonly type: string;
  /** Segment of its URLs. */
  readonly path: string;
  /** One sentence that says what a record is, for the API description. */
  readonly description: string;
  /** For a record that every record of another kind has exactly one of: that kind, and the end of its path. */
  readonly part?: { readonly of: string; readonly path: string };
  /** Returns the account that a record belongs to (UUID), so that events about the record name it. */
  accountOf?(item: Item): string | null;
  /** Members of `attributes`, for the API description. */
  readonly attributes: z.ZodObject;
  attributesOf(item: Item, core: Core): Readonly<Record<string, unknown>>;
  /** Version of a record, for changes that must not overwrite others (RFC 9110 8.8.3). */
  versionOf?(item: Item): number;
}

/** Returns the path segments of a record. @param id the ID, or the name of the path parameter */
export function addressOf<Item extends { readonly id: string }>({ path, part }: Resource<Item>, id: string): string[] {
  return [path, id, ...(part === undefined ? [] : [part.path])];
}

/** Returns the tag of its operations. */
export function tagOf<Item extends { readonly id: string }>({ type, part }: Resource<Item>): string {
  return part?.of ?? type;
}

/** Path of the API, below the listener's prefix. */
export const BASE_PATH = '/api/admin/v1';

/** Formats a time as RFC 3339 with microseconds. @param at milliseconds since the epoch */
export function time(at: number): string {
  return new Date(at).toISOString().replace('Z', '000Z');
}

export function timeOrNull(at: number | null): string | null {
  return at === null ? null : time(at);
}

export function idOrNull(uuid: string | null): string | null {
  return uuid === null ? null : fromUuid(uuid);
}

/** The parts of a request that a document depends on. */
interface Shown {
  readonly core: Core;
  /** URL of the API, as the request addressed it. */
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

export function entityTag(version: number): string {
  return `"${version}"`;
}

/** @param action rest of an action's path, for the outer link; @param meta what the response says besides the record */
export function single<Item extends { readonly id: string }>(
  status: number,
  resource: Resource<Item>,
  item: Item,
  {
    action,
    meta,
    ...shown
  }: Shown & { readonly action?: string | undefined; readonly meta?: Readonly<Record<string, unknown>> | undefined },
): HttpResponse {
  const data = document(resource, item, shown);
  const self = action === undefined ? data.links.self : `${data.links.self}/${action}`;
  const version = resource.versionOf?.(item);
  const headers = version === undefined ? {} : { etag: entityTag(version) };
  return json(status, { data, links: { self }, ...(meta !== undefined && { meta }) }, headers);
}
