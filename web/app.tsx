import { Provider } from '@urql/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { LocationProvider, Route, Router } from 'preact-iso/router';
import { createAreaClient } from './api/client.ts';
import { Skeleton } from './components/states.tsx';
import type { AreaConfig } from './config.ts';
import { Announcements } from './frame/announcements.tsx';
import { Unbroken } from './frame/broken.tsx';
import { ConfigProvider } from './frame/config-context.ts';
import { Footer } from './frame/footer.tsx';
import { OfflineBanner } from './frame/offline.tsx';
import { reloadSignedOut } from './frame/signed-out.ts';
import { type AreaTranslations, TranslationsProvider } from './i18n/translations.ts';
import { NotFound } from './pages/not-found.tsx';
import { Reauthentication } from './reauthentication/reauthentication.tsx';
import { ANONYMOUS_PATHS, ROUTES } from './routes.ts';

/** The account area: shared parts around the page for the current URL. */
export function App({ config, translations }: { config: AreaConfig; translations: AreaTranslations }): VNode {
  const [client] = useState(() =>
    createAreaClient(config.graphqlEndpoint, () => {
      if (!ANONYMOUS_PATHS.some((path) => location.pathname.startsWith(config.root + path))) reloadSignedOut();
    }),
  );
  const [isLoading, setLoading] = useState(false);
  return (
    <ConfigProvider value={config}>
      <TranslationsProvider value={translations}>
        <Provider value={client}>
          <LocationProvider scope={config.root}>
            <OfflineBanner />
            <Announcements>
              <Reauthentication>
                <Unbroken>
                  <Router onLoadStart={() => setLoading(true)} onLoadEnd={() => setLoading(false)}>
                    {ROUTES.map(({ path, page }) => (
                      <Route key={path} path={config.root + path} component={page} />
                    ))}
                    <Route default component={NotFound} />
                  </Router>
                </Unbroken>
              </Reauthentication>
            </Announcements>
            {isLoading && <Skeleton />}
            <Footer />
          </LocationProvider>
        </Provider>
      </TranslationsProvider>
    </ConfigProvider>
  );
}
