/** A position in a template. Lines and columns count from 1, columns in characters. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** A template that cannot be compiled. The message quotes only the template. */
export class TemplateSyntaxError extends Error {
  override readonly name = 'TemplateSyntaxError';
  readonly place: Place;

  constructor(source: string, offset: number, problem: string) {
    const place = placeOf(source, offset);
    super(`line ${place.line}, column ${place.column}: ${problem}`);
    this.place = place;
  }
}

/** A template that fails for these variables. The message quotes the template, never a value, so it may be logged. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
  readonly place: Place;

  constructor(source: string, offset: number, problem: string) {
    const place = placeOf(source, offset);
    super(`line ${place.line}, column ${place.column}: ${problem}`);
    this.place = place;
  }
}

/** A runtime failure whose position is not known yet. Never contains a value. */
export class Failure extends Error {}

function placeOf(source: string, offset: number): Place {
  const before = source.slice(0, offset).split('\n');
  return { line: before.length, column: [...(before.at(-1) ?? '')].length + 1 };
}
