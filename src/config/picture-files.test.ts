import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { load, problemsOf, workingDirectory } from './fixture.test-support.ts';
import { loadConfig } from './load.ts';

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 1"><path d="M0 0h2v1z"/></svg>';
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
const YAML = 'branding:\n  logo: art/logo\n';
const PLACE = '(latchkey.yaml:2:9)';

function loadLogo(content: string | Buffer) {
  return load({ files: { 'latchkey.yaml': YAML, 'art/logo': content } }).config.branding.logo;
}

describe('custom images (browser-flows 12.4)', () => {
  test.each([
    ['a drawing', SVG, 'svg'],
    [
      'one with a declaration, a comment and a document type',
      `<?xml version="1.0"?>\n<!-- > -->\n<!DOCTYPE svg>${SVG}`,
      'svg',
    ],
    ['one with a byte order mark', `\ufeff${SVG}`, 'svg'],
    ['a PNG picture', PNG, 'png'],
    ['one of 256 KiB', Buffer.concat([PNG, Buffer.alloc(256 * 1024 - PNG.length)]), 'png'],
  ])('%s is read at startup, whatever its name', (_case, content, format) => {
    expect(loadLogo(content)).toEqual({ format, content: Buffer.from(content) });
  });

  test.each([
    ['a JPEG picture', Buffer.from([0xff, 0xd8, 0xff, 0xe0]), 'is neither an SVG nor a PNG image'],
    ['an empty file', '', 'is neither an SVG nor a PNG image'],
    ['a page', `<!doctype html><script>alert(1)</script>${SVG}`, 'is neither an SVG nor a PNG image'],
    [
      'an HTML page with an svg element',
      `<html><svg xmlns="http://www.w3.org/2000/svg"/></html>`,
      'is neither an SVG nor a PNG image',
    ],
    ['a drawing without its namespace, which browsers do not draw', '<svg/>', 'is neither an SVG nor a PNG image'],
    ['text that is not UTF-8', Buffer.from(SVG, 'utf16le'), 'is neither an SVG nor a PNG image'],
    ['an unclosed comment', '<!-- ', 'is neither an SVG nor a PNG image'],
    ['a file that is too large', Buffer.concat([PNG, Buffer.alloc(256 * 1024)]), 'is larger than 256 KiB'],
  ])('%s is rejected with file, line and column', (_case, content, message) => {
    const [problem = '', ...more] = problemsOf({ files: { 'latchkey.yaml': YAML, 'art/logo': content } });
    expect(more).toEqual([]);
    expect(problem).toMatch(/^branding\.logo: the file .*\/art\/logo /);
    expect(problem.endsWith(`${message} ${PLACE}`)).toBe(true);
  });

  test('a missing file and a directory are rejected', () => {
    expect(problemsOf({ files: { 'latchkey.yaml': YAML } }).join()).toMatch(
      /^branding\.logo: cannot read the file .*\/art\/logo: no such file \(latchkey\.yaml:2:9\)$/,
    );
    const directory = workingDirectory({ 'latchkey.yaml': YAML });
    mkdirSync(join(directory, 'art/logo'), { recursive: true });
    const start = () => loadConfig({ files: [], environment: {}, flags: {}, workingDirectory: directory });
    expect(start).toThrow(/branding\.logo: .*\/art\/logo is not a file \(latchkey\.yaml:2:9\)/);
  });

  test('a dark logo without a light one is rejected: it would never be shown', () => {
    const yaml = 'branding:\n  logo_dark: logo.svg\n';
    expect(problemsOf({ files: { 'latchkey.yaml': yaml, 'logo.svg': SVG } })).toEqual([
      'branding.logo_dark: needs "logo", which light pages show (latchkey.yaml:2:14)',
    ]);
  });
});
