/** What can be asked of the service, and is true or not. */

/** An access or refresh token works. */
export function tokenWorks(token) {
  return {
    key: `token ${token}`,
    ask: async (requests) => (await requests.client('oauth2/introspect', { token })).active,
  };
}

/** Those that somebody has of an application. The first one ends by its age. */
export function tokensWork({ accessToken, refreshToken }) {
  const access = accessToken === undefined ? [] : [{ ...tokenWorks(accessToken), endsByAge: true }];
  return [...access, ...(refreshToken === undefined ? [] : [tokenWorks(refreshToken)])];
}

/** Somebody can sign in with this password. */
export function passwordWorks(username, password) {
  return {
    key: `password ${username} ${password}`,
    ask: async (requests) => {
      const visitor = requests.visitor();
      await visitor.get('/login');
      const { status } = await visitor.submit({ username, password }, { expected: [200, 303] });
      return status === 303;
    },
  };
}

let browsers = 0;

/** A browser is signed in. @param visitor with its cookies */
export function isSignedIn(visitor, username) {
  browsers += 1;
  return {
    key: `browser ${username}-${browsers}`,
    // The sign-in page leads on who has signed in.
    ask: async () => (await visitor.get('/login')).status === 303,
  };
}
