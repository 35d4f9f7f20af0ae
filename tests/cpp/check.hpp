// check.hpp - what the tests of costate.hpp share: checks that count failures, and the message of what is thrown.
#pragma once
#include <cmath>
#include <costate/costate.hpp>
#include <cstdio>
#include <string>

inline int failures = 0;

inline void check(bool good, const std::string &what)
{
    if (good) return;
    std::printf("wrong: %s\n", what.c_str());
    failures++;
}

inline void near(double a, double b, double tolerance, const std::string &what)
{
    check(std::fabs(a - b) <= tolerance * std::fmax(1, std::fabs(b)),
          what + ": " + std::to_string(a) + " instead of " + std::to_string(b));
}

// the message of a costate::error, or nothing
template<class Body> std::string refusal(const Body &body)
{
    try {
        body();
    } catch (const costate::error &e) {
        return e.what();
    }
    return "";
}

template<class Body> void refused(const Body &body, const std::string &part, const std::string &what)
{
    const std::string said = refusal(body);
    check(said.find(part) != std::string::npos, what + " says \"" + said + "\", not \"" + part + "\"");
}
