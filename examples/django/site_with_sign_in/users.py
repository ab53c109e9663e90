"""How users of the provider become users of the site."""

from urllib.parse import urlencode

from django.conf import settings
from mozilla_django_oidc.auth import OIDCAuthenticationBackend


class SubjectBackend(OIDCAuthenticationBackend):
    """Finds users by subject: by email address, a user who gets the address of another would get the account."""

    def filter_users_by_claims(self, claims):
        return self.UserModel.objects.filter(username=claims["sub"])

    def get_username(self, claims):
        return claims["sub"]

    def create_user(self, claims):
        return self.update_user(super().create_user(claims), claims)

    def update_user(self, user, claims):
        user.first_name = claims.get("name", "")
        user.email = claims.get("email", "")
        user.save()
        return user


def logout_url(request):
    """Returns where the browser ends the session of the provider as well."""
    parameters = {
        "id_token_hint": request.session.get("oidc_id_token", ""),
        "post_logout_redirect_uri": request.build_absolute_uri("/"),
    }
    return f"{settings.OIDC_OP_LOGOUT_ENDPOINT}?{urlencode(parameters)}"
