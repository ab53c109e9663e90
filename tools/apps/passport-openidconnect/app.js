/** An application with Passport, as the manual of passport-openidconnect shows it. */
import express from 'express';
import session from 'express-session';
import passport from 'passport';
import OpenIDConnectStrategy from 'passport-openidconnect';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, PORT } = process.env;

passport.use(
  new OpenIDConnectStrategy(
    {
      issuer: ISSUER,
      authorizationURL: `${ISSUER}/authorize`,
      tokenURL: `${ISSUER}/oauth2/token`,
      userInfoURL: `${ISSUER}/oauth2/userinfo`,
      clientID: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      callbackURL: `http://localhost:${PORT}/callback`,
      scope: ['profile', 'email'],
    },
    (_issuer, profile, done) => done(null, profile),
  ),
);
passport.serializeUser((user, done) => done(null, user));
passport.deserializeUser((user, done) => done(null, user));

const app = express();
app.use(session({ secret: 'the-secret-of-the-application-itself', resave: false, saveUninitialized: false }));
app.use(passport.session());
app.get('/login', passport.authenticate('openidconnect'));
app.get(
  '/callback',
  passport.authenticate('openidconnect', { successRedirect: '/me', failureRedirect: '/refused', failureMessage: true }),
);
app.get('/refused', (request, response) => response.status(401).json(request.session.messages));
app.get('/me', ({ user }, response) => {
  if (!user) return response.status(401).json({});
  response.json({ sub: user.id, name: user.displayName, email: user.emails?.[0]?.value });
});
app.listen(PORT, '127.0.0.1');
