//! Use of a login: its access token, and another one when that has ended or is refused.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::Mutex;
use tollhouse::capability::ServerUrl;
use tollhouse::tool::Network;

use super::login_file::{LoginError, LoginFile, LoginPlace, StoredLogin};
use super::tokens;

/// Login that is used for requests to its address.
pub struct LoginSession {
    file: Arc<LoginFile>,
    login: Mutex<StoredLogin>,
    /// Earlier access tokens that the server may have, the last ones.
    given: Mutex<VecDeque<String>>,
    /// Port of the authorization server.
    port: u16,
}

/// What stands in place of an access token.
const WITHHELD: &str = "{{secret:login}}";

/// Most earlier access tokens that are replaced. By then, they have ended.
const MAX_GIVEN: usize = 8;

impl LoginSession {
    /// Opens the login at an address.
    ///
    /// # Errors
    /// If its file cannot be read.
    pub fn open(place: &LoginPlace, url: &ServerUrl) -> Result<Self, LoginError> {
        let file = place.open(url)?;
        let login = file.read()?;
        let port = ServerUrl::parse(&login.token_endpoint).map_err(|_| LoginError::Damaged)?.port();
        Ok(Self { file: Arc::new(file), login: Mutex::new(login), given: Mutex::default(), port })
    }

    /// Returns the port of the authorization server.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Remembers an access token that is about to be replaced.
    async fn remember(&self, token: &str) {
        let mut given = self.given.lock().await;
        given.push_back(token.to_owned());
        if given.len() > MAX_GIVEN {
            given.pop_front();
        }
    }

    /// Returns the access token, which is another one if the present one has ended.
    pub(crate) async fn token(&self, network: &Network) -> Result<String, LoginError> {
        let mut login = self.login.lock().await;
        if !login.is_fresh() {
            self.remember(&login.access_token).await;
            self.renew(&mut login, network).await?;
        }
        Ok(login.access_token.clone())
    }

    /// Returns an access token other than one that the server has refused.
    pub(crate) async fn other_token(&self, network: &Network, refused: &str) -> Result<String, LoginError> {
        let mut login = self.login.lock().await;
        if login.access_token == refused {
            self.remember(refused).await;
            self.renew(&mut login, network).await?;
        }
        Ok(login.access_token.clone())
    }

    /// Replaces the access tokens of the login in a message of the server, as values of other secrets are replaced. A token
    /// has no character that JSON writes in another way.
    pub(crate) async fn withheld(&self, message: String) -> String {
        let login = self.login.lock().await;
        self.given.lock().await.iter().chain([&login.access_token]).fold(message, |message, token| {
            if message.contains(token.as_str()) { message.replace(token.as_str(), WITHHELD) } else { message }
        })
    }

    /// Replaces the tokens by those that another process has got, or that the authorization server issues. They are
    /// stored before they are used: a server accepts a refresh token once.
    async fn renew(&self, login: &mut StoredLogin, network: &Network) -> Result<(), LoginError> {
        let file = Arc::clone(&self.file);
        let locked = tokio::task::spawn_blocking(move || {
            let lock = file.lock()?;
            Ok::<_, LoginError>((lock, file.read()?))
        });
        let (_lock, stored) = locked.await.map_err(std::io::Error::other)??;
        if stored.access_token != login.access_token && stored.is_fresh() {
            *login = stored;
            return Ok(());
        }
        let mut renewed = stored;
        let refresh = renewed.refresh_token.clone().ok_or(LoginError::Ended)?;
        tokens::ask(network, &mut renewed, &[("grant_type", "refresh_token"), ("refresh_token", &refresh)]).await?;
        self.file.write(&renewed)?;
        *login = renewed;
        Ok(())
    }
}
