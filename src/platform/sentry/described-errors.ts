/** Describes errors for Sentry without values that may come from users. */
import { basename } from 'node:path';
import { packageRoot } from '#platform/base/package-root.ts';

const MAX_CAUSES = 5;
const MAX_FRAMES = 50;
const MAX_READ_CHARACTERS = 2_000;
const MAX_MESSAGE_CHARACTERS = 300;

/** Causes come first, as Sentry expects. */
export function describeErrors(error: unknown) {
  const errors: unknown[] = [];
  for (let next = error; next !== undefined && errors.length < MAX_CAUSES; next = causeOf(next)) errors.unshift(next);
  return errors.map((one) => ({
    type: one instanceof Error ? one.name : typeof one,
    value: withoutValues(one instanceof Error ? one.message : ''),
    stacktrace: { frames: framesOf(one instanceof Error ? (one.stack ?? '') : '') },
  }));
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}

/**
 * Removes quoted text, query strings, email addresses and long words. Messages of the runtime and the database quote
 * the invalid input (`Unexpected token … is not valid JSON`), which is not needed to understand the error.
 */
function withoutValues(message: string): string {
  return message
    .slice(0, MAX_READ_CHARACTERS)
    .replace(/"(?:[^"\\]|\\.)*"?|`[^`]*`?|'(?:[^'\\]|\\.)*'/gs, '"…"')
    .replace(/\?\S+/g, '?…')
    .replace(/\S+@\S+/g, '…')
    .replace(/[\w+/=.-]{24,}/g, '…')
    .slice(0, MAX_MESSAGE_CHARACTERS);
}

const FRAME = /^\s+at (?:(.+?) \()?(?:file:\/\/)?(\S+?):(\d+):(\d+)\)?$/;

/** The oldest call comes first. Local folders are removed. */
function framesOf(stack: string) {
  const frames = stack.split('\n').flatMap((line) => {
    const [, name = '?', file, lineNumber, column] = FRAME.exec(line) ?? [];
    if (file === undefined) return [];
    const isOurs = file.startsWith(packageRoot) && !file.includes('/node_modules/');
    return [
      { function: name, filename: nameOf(file), lineno: Number(lineNumber), colno: Number(column), in_app: isOurs },
    ];
  });
  return frames.slice(0, MAX_FRAMES).reverse();
}

function nameOf(file: string): string {
  if (file.startsWith('node:')) return file;
  return file.startsWith(packageRoot) ? `app://${file.slice(packageRoot.length)}` : `app:///${basename(file)}`;
}
