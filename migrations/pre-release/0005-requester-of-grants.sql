-- expand

-- Who was signed in when the request arrived: a person may have so many requests that led to nothing, as an address may.
alter table oauth2_authorization_grants add column requester_user_id uuid;
