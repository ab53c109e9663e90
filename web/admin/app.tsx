import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { LocationProvider, Route, Router } from 'preact-iso/router';
import type { Language } from '../../src/browser/i18n/language.ts';
import { areaTranslations, TranslationsProvider } from '../i18n/translations.ts';
import type { Refusal } from './api/access-token.ts';
import { AdminClient } from './api/admin-client.ts';
import { ClientProvider } from './api/context.ts';
import type { AdminConfig } from './config.ts';
import { ConfigProvider } from './frame/config-context.ts';
import { Layout } from './frame/layout.tsx';
import { Unbroken } from './frame/lazy-page.tsx';
import { Live } from './frame/live.tsx';
import { NoAccess } from './frame/no-access.tsx';
import { Offline } from './frame/offline.tsx';
import { TextsProvider, textsOf } from './i18n/translations.ts';
import { NotFound } from './pages/not-found.tsx';
import { ROUTES } from './routes.ts';

/** The admin area: shared parts around the page for the current URL. */
export function App({ config, language }: { config: AdminConfig; language: Language }): VNode {
  const [refusal, setRefusal] = useState<Refusal | undefined>();
  const [client] = useState(() => new AdminClient(config, setRefusal));
  const [texts] = useState(() => textsOf(language));
  const [shared] = useState(() => areaTranslations(language));
  return (
    <ConfigProvider value={config}>
      <TextsProvider value={texts}>
        {/* For the components that both areas use. */}
        <TranslationsProvider value={shared}>
          <ClientProvider value={client}>
            <LocationProvider scope={config.root}>
              <Offline />
              <Live>
                <Layout>
                  <Unbroken>
                    <Router>
                      {ROUTES.map(({ path, page }) => (
                        <Route key={path} path={config.root + path} component={page} />
                      ))}
                      <Route default component={NotFound} />
                    </Router>
                  </Unbroken>
                </Layout>
              </Live>
              {refusal !== undefined && refusal.kind !== 'network' && (
                <NoAccess kind={refusal.kind} onClose={() => setRefusal(undefined)} />
              )}
            </LocationProvider>
          </ClientProvider>
        </TranslationsProvider>
      </TextsProvider>
    </ConfigProvider>
  );
}
