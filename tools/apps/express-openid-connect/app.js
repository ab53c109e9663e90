/** An application with express-openid-connect, as its manual shows it for the code flow. */
import express from 'express';
import eoc from 'express-openid-connect';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, PORT } = process.env;

const app = express();
app.use(
  eoc.auth({
    issuerBaseURL: ISSUER,
    baseURL: `http://localhost:${PORT}`,
    clientID: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    secret: 'the-secret-of-the-application-itself',
    authorizationParams: { response_type: 'code' },
    authRequired: false,
  }),
);
app.get('/me', (request, response) => {
  if (!request.oidc.isAuthenticated()) return response.status(401).json({});
  const { sub, name, email } = request.oidc.user;
  response.json({ sub, name, email });
});
app.listen(PORT, '127.0.0.1');
