// An application with golang.org/x/oauth2 alone, with which Grafana and Portainer sign users in: endpoints from the
// configuration, and the claims of userinfo. PKCE and the path of the callback depend on the program.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"

	"golang.org/x/oauth2"
)

// Only one user signs in, so these replace a session.
var (
	state    = oauth2.GenerateVerifier()
	verifier = oauth2.GenerateVerifier()
	user     *claims
)

type claims struct {
	Subject string `json:"sub"`
	Name    string `json:"name"`
	Email   string `json:"email"`
}

func main() {
	issuer, callback := os.Getenv("ISSUER"), os.Getenv("CALLBACK")
	config := oauth2.Config{
		ClientID:     os.Getenv("CLIENT_ID"),
		ClientSecret: os.Getenv("CLIENT_SECRET"),
		Endpoint:     oauth2.Endpoint{AuthURL: issuer + "/authorize", TokenURL: issuer + "/oauth2/token"},
		RedirectURL:  "http://localhost:" + os.Getenv("PORT") + callback,
		Scopes:       []string{"openid", "profile", "email", "groups"},
	}
	var asking, redeeming []oauth2.AuthCodeOption
	if os.Getenv("PKCE") == "true" {
		asking = append(asking, oauth2.S256ChallengeOption(verifier))
		redeeming = append(redeeming, oauth2.VerifierOption(verifier))
	}
	http.HandleFunc("/login", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, config.AuthCodeURL(state, asking...), http.StatusFound)
	})
	http.HandleFunc(callback, func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		if problem := query.Get("error"); problem != "" {
			http.Error(w, problem+": "+query.Get("error_description"), http.StatusForbidden)
			return
		}
		if query.Get("state") != state {
			http.Error(w, "state did not match", http.StatusBadRequest)
			return
		}
		token, err := config.Exchange(r.Context(), query.Get("code"), redeeming...)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		answer, err := config.Client(r.Context(), token).Get(issuer + "/oauth2/userinfo")
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer answer.Body.Close()
		if err := json.NewDecoder(answer.Body).Decode(&user); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
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
