// An application with goth, the library with which Gitea and Forgejo sign users in.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"

	"github.com/gorilla/sessions"
	"github.com/markbates/goth"
	"github.com/markbates/goth/gothic"
	"github.com/markbates/goth/providers/openidConnect"
)

// Only one user signs in, so this replaces a session.
var user *claims

type claims struct {
	Subject string `json:"sub"`
	Name    string `json:"name"`
	Email   string `json:"email"`
}

func main() {
	store := sessions.NewCookieStore([]byte("the-secret-of-the-application-itself"))
	store.Options.Secure, store.Options.SameSite = false, http.SameSiteLaxMode
	gothic.Store = store
	gothic.GetProviderName = func(*http.Request) (string, error) { return "latchkey", nil }
	provider, err := openidConnect.NewNamed(
		"latchkey", os.Getenv("CLIENT_ID"), os.Getenv("CLIENT_SECRET"),
		"http://localhost:"+os.Getenv("PORT")+"/user/oauth2/latchkey/callback",
		os.Getenv("ISSUER")+"/.well-known/openid-configuration",
		"profile", "email", "groups",
	)
	if err != nil {
		log.Fatal(err)
	}
	provider.SetName("latchkey")
	goth.UseProviders(provider)
	http.HandleFunc("/login", gothic.BeginAuthHandler)
	http.HandleFunc("/user/oauth2/latchkey/callback", func(w http.ResponseWriter, r *http.Request) {
		if problem := r.URL.Query().Get("error"); problem != "" {
			http.Error(w, problem+": "+r.URL.Query().Get("error_description"), http.StatusForbidden)
			return
		}
		found, err := gothic.CompleteUserAuth(w, r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		user = &claims{found.UserID, found.Name, found.Email}
		http.Redirect(w, r, "/me", http.StatusFound)
	})
	http.HandleFunc("/me", func(w http.ResponseWriter, r *http.Request) {
		if user == nil {
			w.WriteHeader(http.StatusUnauthorized)
		}
		json.NewEncoder(w).Encode(user)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
