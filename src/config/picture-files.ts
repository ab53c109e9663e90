import { readFileSync, statSync } from 'node:fs';
import { systemReason } from '#platform/base/system-errors.ts';
import type { Problem } from '#platform/config/problems.ts';
import { type MappingNode, nodeAt, pathText } from '#platform/config/tree.ts';
import { PICTURE_KEYS, type PictureConfig, type Pictures } from './sections/branding.ts';

const MAX_BYTES = 256 * 1024;
const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * Reads the pictures named in the section `branding`. The type is detected from the content, not from the file name.
 */
export function readPictures(root: MappingNode): { readonly pictures: Pictures; readonly problems: Problem[] } {
  const pictures: { -readonly [Key in keyof Pictures]: Pictures[Key] } = {};
  const problems: Problem[] = [];
  for (const name of PICTURE_KEYS) {
    const key = ['branding', name];
    const node = nodeAt(root, key);
    // The schema check reports anything but a path.
    if (node?.kind !== 'scalar' || typeof node.value !== 'string' || node.value === '') continue;
    const found = readPicture(node.value);
    if (typeof found === 'string') problems.push({ key: pathText(key), message: found, at: node.at });
    else pictures[name] = found;
  }
  return { pictures, problems };
}

/** @returns the picture, or a description of the problem */
function readPicture(path: string): PictureConfig | string {
  let content: Buffer;
  try {
    const stats = statSync(path);
    if (!stats.isFile()) return `${path} is not a file`;
    if (stats.size > MAX_BYTES) return `the file ${path} is larger than 256 KiB`;
    content = readFileSync(path);
  } catch (error) {
    return `cannot read the file ${path}: ${systemReason(error)}`;
  }
  if (content.length > MAX_BYTES) return `the file ${path} is larger than 256 KiB`;
  if (content.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE)) return { format: 'png', content };
  if (isSvg(content)) return { format: 'svg', content };
  return `the file ${path} is neither an SVG nor a PNG image`;
}

const SVG_NAMESPACE = /^<svg\s[^>]*\bxmlns\s*=\s*["']http:\/\/www\.w3\.org\/2000\/svg["']/;
/** Constructs allowed before the root element, each with its start and end. */
const PROLOGUE = [
  ['<?', '?>'],
  ['<!--', '-->'],
  ['<!DOCTYPE', '>'],
] as const;

/** Returns true if browsers can render the file: UTF-8 with an `svg` root element in the SVG namespace. */
function isSvg(content: Buffer): boolean {
  let rest: string;
  try {
    rest = new TextDecoder('utf-8', { fatal: true }).decode(content).trimStart();
  } catch {
    return false;
  }
  for (;;) {
    const part = PROLOGUE.find(([begin]) => rest.startsWith(begin));
    if (part === undefined) return SVG_NAMESPACE.test(rest);
    const end = rest.indexOf(part[1]);
    if (end === -1) return false;
    rest = rest.slice(end + part[1].length).trimStart();
  }
}
