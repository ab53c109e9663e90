import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { AssetFiles, AssetName } from '#browser/asset-files.ts';
import { Favicon, type Site } from '#browser/layout.tsx';

interface ReferenceParts {
  readonly site: Site;
  readonly assets: Pick<AssetFiles, 'find'>;
}

/** The interactive reference. @param addresses the description below the origin, the callback as an absolute address */
export function renderReference(
  parts: ReferenceParts,
  addresses: { readonly description: string; readonly callback: string },
): string {
  return document(
    <Head parts={parts} title="Admin API" script="api-reference.js" stylesheet="api-reference.css" />,
    // The script puts the reference in the place of what is here.
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

/** What the window that signed in ends on: the same for every answer. */
export function renderCallback(parts: ReferenceParts): string {
  return document(
    <Head parts={parts} title="Signed in" script="api-callback.js" stylesheet="pages.css" />,
    <main class="card">
      <h1>Back to the reference</h1>
      <p>The sign-in is handed to the page that asked for it. This window can be closed.</p>
    </main>,
  );
}

/** Written for administrators, in the one language of the description itself. */
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
