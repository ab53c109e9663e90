import type { Answer } from './route.ts';

export type AnswerHeaders = Answer['headers'];

export const noStore = { 'cache-control': 'no-store' } as const;

/** A JSON document; not cacheable unless `headers` say otherwise. */
export function json(status: number, value: unknown, headers: AnswerHeaders = {}): Answer {
  return {
    status,
    headers: { 'content-type': 'application/json', ...noStore, ...headers },
    body: JSON.stringify(value),
  };
}

/** 303, so that the body of a POST is never repeated at the target; not cacheable unless `headers` say otherwise. */
export function redirect(location: string, headers: AnswerHeaders = {}): Answer {
  return { status: 303, headers: { location, ...noStore, ...headers } };
}

/** One short line of `text/plain`. */
export function plainText(status: number, text: string, headers: AnswerHeaders = {}): Answer {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8', ...noStore, ...headers }, body: text };
}
