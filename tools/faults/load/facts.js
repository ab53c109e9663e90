/** Facts that can be checked against the service. */

/** An access or refresh token works. */
export function tokenWorks(token) {
  return {
    key: `token ${token}`,
    ask: async (requests) => (await requests.client('oauth2/introspect', { token })).active,
  };
}

/** A user's tokens for a client. The first one expires. */
export function tokensWork({ accessToken, refreshToken }) {
  const access = accessToken === undefined ? [] : [{ ...tokenWorks(accessToken), endsByAge: true }];
  return [...access, ...(refreshToken === undefined ? [] : [tokenWorks(refreshToken)])];
}

/** A user can sign in with this password. */
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

/**
 * A browser is signed in.
 * @param visitor with its cookies
 */
export function isSignedIn(visitor, username) {
  browsers += 1;
  return {
    key: `browser ${username}-${browsers}`,
    // The sign-in page redirects a user who is signed in.
    ask: async () => (await visitor.get('/login')).status === 303,
  };
}
