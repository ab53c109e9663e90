/** Files and settings of an operator who customizes the look of the pages. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** @param ink color of the letters. If its script ran, it would leave a mark on the window. */
function wordmark(ink) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 176 48">
  <script>globalThis.logoRan = true</script>
  <style>text { font: 700 26px sans-serif }</style>
  <circle cx="24" cy="24" r="22" fill="#8a1c7c"/><path d="M10 28q7-8 14 0t14 0" fill="none" stroke="#fff" stroke-width="4"/>
  <text x="58" y="33" fill="${ink}">Harbour</text>
</svg>
`;
}

/** @param folder for the files */
export function branding(folder) {
  const place = (name, content) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  return {
    service_name: 'example.org',
    logo: place('logo.svg', wordmark('#2a1126')),
    logo_dark: place('logo-dark.svg', wordmark('#f6e9f4')),
    favicon: place('favicon.svg', wordmark('#8a1c7c')),
    accent_color: '#8a1c7c',
    tos_uri: 'https://example.org/terms',
    login_message: 'New here? The harbour office makes your account.',
  };
}

const PAGE = `<div class="{{ page_class }}">
  <header class="brand">{{ brand }}</header>
  {{ content }}
  <nav class="foot" aria-label="{{ service_name }}"><a href="https://harbour.example/">Back to the harbour</a></nav>
  {{ footer }}
</div>
`;

/** @returns a directory with a page template */
export function templates(folder) {
  const directory = join(folder, 'templates');
  mkdirSync(directory);
  writeFileSync(join(directory, 'page.html'), PAGE);
  return directory;
}
