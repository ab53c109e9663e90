import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { AssetFiles, AssetName } from '#browser/asset-files.ts';
import { Favicon, type Site } from '#browser/layout.tsx';

interface ReferenceParts {
  readonly site: Site;
  readonly assets: Pick<AssetFiles, 'find'>;
}

/** Renders the interactive reference. @param addresses path of the description, and absolute URL of the callback */
export function renderReference(
  parts: ReferenceParts,
  addresses: { readonly description: string; readonly callback: string },
): string {
  return document(
    <Head parts={parts} title="Admin API" script="api-reference.js" stylesheet="api-reference.css" />,
    // The script replaces this content with the reference.
    <div id="reference" data-description={addresses.description} data-callback={addresses.callback}>
      <noscript>
        <main>
          <h1>Admin API</h1>
          <p>
            This page needs JavaScript. <a href={addresses.description}>The description of the API</a> does not.
          </p>
        </main>
      </noscript>
    </div>,
  );
}

/** Renders the page on which the sign-in window ends. It is the same for every response. */
export function renderCallback(parts: ReferenceParts): string {
  return document(
    <Head parts={parts} title="Signed in" script="api-callback.js" stylesheet="pages.css" />,
    <main class="card">
      <h1>Back to the reference</h1>
      <p>The sign-in is handed to the page that asked for it. This window can be closed.</p>
    </main>,
  );
}

/** English only, like the API description itself. */
function document(head: VNode, content: VNode): string {
  return `<!doctype html>\n<html lang="en" dir="ltr">${renderToString(head)}<body>${renderToString(content)}</body></html>\n`;
}

function Head(props: {
  readonly parts: ReferenceParts;
  readonly title: string;
  readonly script: AssetName;
  readonly stylesheet: AssetName;
}): VNode {
  const { parts, title, script, stylesheet } = props;
  const { site, assets } = parts;
  return (
    <head>
      <meta charset="utf-8" />
      <title>{`${title} – ${site.serviceName}`}</title>
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="robots" content="noindex" />
      <Favicon site={site} />
      <link rel="stylesheet" href={site.assetPath(stylesheet)} integrity={assets.find(stylesheet)?.integrity} />
      <script src={site.assetPath(script)} integrity={assets.find(script)?.integrity} defer />
    </head>
  );
}
