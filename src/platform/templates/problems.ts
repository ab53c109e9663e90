/** Where something stands in a template; both count from 1, columns in characters. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** A template that cannot be compiled. The message quotes the template only. */
export class TemplateSyntaxError extends Error {
  override readonly name = 'TemplateSyntaxError';
  readonly place: Place;

  constructor(source: string, offset: number, problem: string) {
    const place = placeOf(source, offset);
    super(`line ${place.line}, column ${place.column}: ${problem}`);
    this.place = place;
  }
}

/**
 * A template that has no result for these variables. The message quotes the template, never a value: it may be logged.
 */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
  readonly place: Place;

  constructor(source: string, offset: number, problem: string) {
    const place = placeOf(source, offset);
    super(`line ${place.line}, column ${place.column}: ${problem}`);
    this.place = place;
  }
}

/** What is wrong while a template runs, before it is known where. Never holds a value. */
export class Failure extends Error {}

function placeOf(source: string, offset: number): Place {
  const before = source.slice(0, offset).split('\n');
  return { line: before.length, column: [...(before.at(-1) ?? '')].length + 1 };
}
