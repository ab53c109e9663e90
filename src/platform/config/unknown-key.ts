import { distance } from 'fastest-levenshtein';
import { type MappingShape, mappingOf, type Shape, shapeAt } from './shape.ts';
import { type Path, pathText } from './tree.ts';

/** Builds the message for an unknown key, with the most similar existing name. */
export function unknownKeyMessage(root: MappingShape, parent: Path, name: string): string {
  const path = pathText([...parent, name]);
  const mistaken = root.hints.mistaken?.find(({ keys }) => keys.includes(path));
  if (mistaken !== undefined) return `unknown key; ${mistaken.advice}`;
  const suggestion = nearestSibling(shapeAt(root, parent), parent, name) ?? sameNameElsewhere(root, name);
  return suggestion === undefined ? 'unknown key' : `unknown key; did you mean "${suggestion}"?`;
}

function nearestSibling(parent: Shape | undefined, path: Path, name: string): string | undefined {
  const names = [...(mappingOf(parent)?.keys ?? [])].flatMap(([key, { hints }]) => [key, ...(hints.aliases ?? [])]);
  const wanted = name.toLowerCase().replaceAll('-', '_');
  const ranked = names
    .map((candidate) => ({ candidate, edits: distance(wanted, candidate) }))
    .sort((left, right) => left.edits - right.edits);
  const isNear = ({ edits, candidate }: { edits: number; candidate: string }) =>
    edits <= Math.max(2, Math.floor(wanted.length / 2)) || candidate.split('_').includes(wanted);
  const best = ranked.find(isNear);
  return best === undefined ? undefined : pathText([...path, best.candidate]);
}

/** The key may be correct but misplaced. */
function sameNameElsewhere(shape: Shape, name: string, path: string[] = []): string | undefined {
  const found = mappingOf(shape)?.keys.has(name) ? [...path, name].join('.') : undefined;
  if (found !== undefined) return found;
  for (const [key, child] of mappingOf(shape)?.keys ?? []) {
    const below = child.kind === 'mapping' ? sameNameElsewhere(child, name, [...path, key]) : undefined;
    if (below !== undefined) return below;
  }
  return undefined;
}
