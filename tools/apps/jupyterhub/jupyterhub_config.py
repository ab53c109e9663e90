# JupyterHub with Latchkey as its GenericOAuthenticator, reached without the proxy that would start before the hub.
import os

from jupyterhub.proxy import Proxy

base = "http://localhost:" + os.environ["PORT"]
issuer = os.environ["ISSUER"]


class NoProxy(Proxy):
    should_start = False

    async def add_route(self, routespec, target, data):
        pass

    async def delete_route(self, routespec):
        pass

    async def get_all_routes(self):
        return {}


c.JupyterHub.proxy_class = NoProxy
c.JupyterHub.hub_ip = "127.0.0.1"
c.JupyterHub.hub_port = int(os.environ["PORT"])
c.JupyterHub.bind_url = base
c.JupyterHub.db_url = "sqlite:///" + os.path.join(os.environ["FOLDER"], "jupyterhub.sqlite")
c.JupyterHub.cookie_secret_file = os.path.join(os.environ["FOLDER"], "cookie_secret")
c.JupyterHub.default_url = "/hub/home"
c.JupyterHub.authenticator_class = "generic-oauth"
c.GenericOAuthenticator.client_id = os.environ["CLIENT_ID"]
c.GenericOAuthenticator.client_secret = os.environ["CLIENT_SECRET"]
c.GenericOAuthenticator.oauth_callback_url = base + "/hub/oauth_callback"
c.GenericOAuthenticator.authorize_url = issuer + "/authorize"
c.GenericOAuthenticator.token_url = issuer + "/oauth2/token"
c.GenericOAuthenticator.userdata_url = issuer + "/oauth2/userinfo"
c.GenericOAuthenticator.login_service = "Latchkey"
c.GenericOAuthenticator.scope = ["openid", "profile", "email", "groups"]
c.GenericOAuthenticator.username_claim = "preferred_username"
c.GenericOAuthenticator.auth_state_groups_key = "oauth_user.groups"
c.GenericOAuthenticator.manage_groups = True
c.GenericOAuthenticator.allowed_groups = {"members"}
c.GenericOAuthenticator.admin_groups = {"admins"}
