<?php

$config['imap_host'] = '127.0.0.1:${IMAP_PORT}';

$config['oauth_provider'] = 'generic';
$config['oauth_provider_name'] = 'Latchkey';
$config['oauth_client_id'] = '${CLIENT_ID}';
$config['oauth_client_secret'] = '${CLIENT_SECRET}';
$config['oauth_auth_uri'] = '${ISSUER}/authorize';
$config['oauth_token_uri'] = '${ISSUER}/oauth2/token';
$config['oauth_identity_uri'] = '${ISSUER}/oauth2/userinfo';
$config['oauth_identity_fields'] = ['preferred_username'];
$config['oauth_scope'] = 'openid profile mail';
$config['oauth_auth_parameters'] = ['resource' => 'https://mail.example.org/'];

$config['db_dsnw'] = 'sqlite:///${FOLDER}/roundcube.sqlite';
$config['des_key'] = 'a-key-of-24-characters!!';
$config['temp_dir'] = '${FOLDER}';
$config['log_driver'] = 'stdout';
