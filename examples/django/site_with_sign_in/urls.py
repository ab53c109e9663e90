"""Pages of the site."""

from django.http import HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.urls import include, path, reverse
from django.utils.html import format_html


def home(request):
    if not request.user.is_authenticated:
        return HttpResponse(format_html('<p><a href="{}">Sign in</a></p>', reverse("oidc_authentication_init")))
    return HttpResponse(
        format_html(
            '<p>Hello, {}.</p><form method="post" action="{}">'
            '<input type="hidden" name="csrfmiddlewaretoken" value="{}"><button>Sign out</button></form>',
            request.user.first_name or request.user.username,
            reverse("oidc_logout"),
            get_token(request),
        )
    )


def me(request):
    if not request.user.is_authenticated:
        return JsonResponse({}, status=401)
    user = request.user
    return JsonResponse({"sub": user.username, "name": user.first_name, "email": user.email})


def refused(request):
    return HttpResponse("The sign-in was refused or failed.", status=403, content_type="text/plain")


urlpatterns = [
    path("", home),
    path("me", me),
    path("refused", refused),
    path("oidc/", include("mozilla_django_oidc.urls")),
]
