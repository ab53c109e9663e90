/** A line of a comparison of two texts. */
export interface LineChange {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
  /** Line in the new text; of a removed line, in the old one. */
  readonly line: number;
}

/** Above this, all lines between the common beginning and end count as replaced. */
const MAX_CELLS = 4_000_000;

/** Returns the lines of both texts in order, with the longest common sequence of lines kept. */
export function lineChanges(before: string, after: string): readonly LineChange[] {
  const [old, next] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < old.length && start < next.length && old[start] === next[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < next.length - start && old.at(-1 - end) === next.at(-1 - end)) end += 1;
  const same = (from: number, to: number): LineChange[] =>
    next.slice(from, to).map((text, index) => ({ kind: 'same', text, line: from + index + 1 }));
  return [
    ...same(0, start),
    ...middle(old.slice(start, old.length - end), next.slice(start, next.length - end), start),
    ...same(next.length - end, next.length),
  ];
}

function middle(old: readonly string[], next: readonly string[], offset: number): LineChange[] {
  const width = next.length + 1;
  const changes: LineChange[] = [];
  const remove = (row: number) => changes.push({ kind: 'removed', text: old[row] ?? '', line: offset + row + 1 });
  const add = (column: number) => changes.push({ kind: 'added', text: next[column] ?? '', line: offset + column + 1 });
  const isSmall = (old.length + 1) * width <= MAX_CELLS;
  // Length of the longest common sequence of the rest of both texts, by position.
  const lengths = isSmall ? new Uint32Array((old.length + 1) * width) : undefined;
  const at = (row: number, column: number): number => lengths?.[row * width + column] ?? 0;
  for (let row = old.length - 1; lengths !== undefined && row >= 0; row -= 1) {
    for (let column = next.length - 1; column >= 0; column -= 1) {
      lengths[row * width + column] =
        old[row] === next[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  let [row, column] = [0, 0];
  while (row < old.length || column < next.length) {
    if (isSmall && row < old.length && column < next.length && old[row] === next[column]) {
      changes.push({ kind: 'same', text: next[column] ?? '', line: offset + column + 1 });
      row += 1;
      column += 1;
    } else if (row < old.length && (column >= next.length || at(row + 1, column) >= at(row, column + 1))) {
      remove(row);
      row += 1;
    } else {
      add(column);
      column += 1;
    }
  }
  return changes;
}

/** Number of unchanged lines shown around changes. */
const CONTEXT = 3;

/** Returns the changes with a few lines around them. `undefined` stands for lines that are left out. */
export function withContext(changes: readonly LineChange[]): readonly (LineChange | undefined)[] {
  const shown = changes.map((_, index) =>
    changes.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(({ kind }) => kind !== 'same'),
  );
  return changes.flatMap((change, index) => {
    if (shown[index] === true) return [change];
    return index === 0 || shown[index - 1] === true ? [undefined] : [];
  });
}
