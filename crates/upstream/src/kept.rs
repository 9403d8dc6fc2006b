//! A request that is kept until it is known whether it is sent again (G20).

use http::{Extensions, HeaderName, HeaderValue, Method, Request, Uri, Version};

use crate::replay::Replay;

/// What is needed to make a request once more. Most are not: the headers are a list, which costs a third of what a map
/// of them does.
pub(crate) struct Kept<B> {
    method: Method,
    uri: Uri,
    version: Version,
    headers: Vec<(HeaderName, HeaderValue)>,
    extensions: Extensions,
    body: B,
}

impl<B: Replay> Kept<B> {
    /// Keeps a request, if its body can be had twice.
    pub(crate) fn of(request: &Request<B>) -> Option<Self> {
        let body = request.body().again()?;
        Some(Self {
            method: request.method().clone(),
            uri: request.uri().clone(),
            version: request.version(),
            headers: request.headers().iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            extensions: request.extensions().clone(),
            body,
        })
    }

    /// The request as it was.
    pub(crate) fn request(self) -> Box<Request<B>> {
        let mut request = Box::new(Request::new(self.body));
        *request.method_mut() = self.method;
        *request.uri_mut() = self.uri;
        *request.version_mut() = self.version;
        *request.extensions_mut() = self.extensions;
        let headers = request.headers_mut();
        headers.reserve(self.headers.len());
        self.headers.into_iter().for_each(|(name, value)| {
            headers.append(name, value);
        });
        request
    }
}
